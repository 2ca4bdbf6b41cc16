//! The dictionary of a session: passes over the atoms and gradients.

pub mod atom_pass;
pub mod atom_view;
pub mod canvas;
pub mod gradient;
pub mod session;
