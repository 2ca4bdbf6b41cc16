//! Choices of the tasks.

use clap::ValueEnum;
use lobcod::tasks::align::Align;
use lobcod::tasks::{denoise, fuse};

/// A fieldless choice of the command line that stands for one of the library.
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
    /// What differs between the pictures that are fused.
    ModeChoice => fuse::Mode {
        /// The distance that is in focus.
        Focus,
        /// The exposure.
        Exposure,
    }
}

choice! {
    /// How smooth layers become one.
    FuseBaseChoice => fuse::FuseBase {
        /// That of the chosen picture.
        Select,
        /// The mean of all.
        Average,
    }
}

choice! {
    /// What a fused picture is put together from.
    ComposeChoice => fuse::Compose {
        /// Pixels of the chosen pictures.
        Pixels,
        /// Codes and smooth layers of the chosen pictures: the paper's way.
        Codes,
    }
}

choice! {
    /// How much a code counts as activity.
    ActivityChoice => fuse::Activity {
        /// By how rough its atom is.
        Rough,
        /// All alike: the paper's way.
        Plain,
    }
}

choice! {
    /// Picture that is taken where nothing tells them apart.
    PreferChoice => fuse::Prefer {
        /// The first.
        Front,
        /// The last.
        Back,
    }
}

choice! {
    /// How pictures are brought to cover each other.
    AlignChoice => Align {
        /// Not at all.
        None,
        /// By a shift.
        Shift,
        /// By a shift, a change of size and a turn.
        Similarity,
    }
}

choice! {
    /// Way to take gaussian noise off.
    MethodOfDenoising => denoise::Method {
        /// Every needle codes its patch by itself, and the patches are averaged.
        Local,
        /// One pursuit of the whole picture, with its certificate.
        Convolutional,
    }
}
