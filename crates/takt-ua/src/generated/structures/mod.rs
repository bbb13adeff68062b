// Written by `cargo xtask generate`. Do not edit.

//! Structures of namespace 0, version 1.05.07: owned forms. Derived structures have the fields of their bases first.

mod part03;
mod part04;
mod part05;
mod part08;
mod part10;
mod part11;
mod part12;
mod part14;
mod part17;
mod part18;
mod part22;
mod part26;
mod services;

pub use part03::*;
pub use part04::*;
pub use part05::*;
pub use part08::*;
pub use part10::*;
pub use part11::*;
pub use part12::*;
pub use part14::*;
pub use part17::*;
pub use part18::*;
pub use part22::*;
pub use part26::*;
pub use services::*;
