//! Option values of `inpaint`, `fuse` and `denoise`.

use clap::ValueEnum;
use lobcod_tasks::align::Align;
use lobcod_tasks::{denoise, fuse, inpaint};

/// Defines a fieldless command-line enum that maps to a library enum.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident => $target:path { $($(#[$doc:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        pub enum $name { $($(#[$doc])* $variant),+ }

        impl From<$name> for $target {
            fn from(choice: $name) -> Self {
                match choice { $($name::$variant => Self::$variant),+ }
            }
        }
    };
}

choice! {
    /// What large holes are filled with.
    FillChoice => inpaint::Fill {
        /// Copies from elsewhere in the image in 8- and 16-bit image files, where a hole is wide and
        /// its surroundings are detailed; otherwise as model.
        Auto,
        /// Only what the atoms predict: smooth where nothing is known nearby.
        Model,
        /// Copies in all holes wider than two pixels.
        Copy,
    }
}

choice! {
    /// What differs between the fused images.
    ModeChoice => fuse::Mode {
        /// Decide from the images, and refuse images of different scenes.
        Auto,
        /// The focus distance.
        Focus,
        /// The exposure.
        Exposure,
    }
}

choice! {
    /// How smooth layers are combined.
    FuseBaseChoice => fuse::FuseBase {
        /// Take the smooth layer of the selected image.
        Select,
        /// Average all smooth layers.
        Average,
    }
}

choice! {
    /// What a fused image is composed of.
    ComposeChoice => fuse::Compose {
        /// Pixels of the selected images.
        Pixels,
        /// Codes and smooth layers of the selected images, as in the paper.
        Codes,
    }
}

choice! {
    /// How codes are weighted in the activity measure.
    ActivityChoice => fuse::Activity {
        /// By the roughness of the atom.
        Rough,
        /// Equally, as in the paper.
        Plain,
    }
}

choice! {
    /// Image to use where the activity does not decide.
    PreferChoice => fuse::Prefer {
        /// The first image.
        Front,
        /// The last image.
        Back,
    }
}

choice! {
    /// How images are aligned.
    AlignChoice => Align {
        /// Align the images where they need it.
        Auto,
        /// No alignment.
        None,
        /// Translation.
        Shift,
        /// Translation, scale and rotation.
        Similarity,
    }
}

choice! {
    /// Method for white Gaussian noise.
    MethodOfDenoising => denoise::Method {
        /// Code each patch separately and average the patches.
        Local,
        /// One pursuit of the whole image, with a certificate.
        Convolutional,
    }
}
