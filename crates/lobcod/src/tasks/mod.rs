//! What convolutional sparse coding is used for.

pub mod inpaint;
