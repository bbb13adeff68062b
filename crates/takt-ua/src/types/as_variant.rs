//! Types that are encoded as a Variant.

use super::{Variant, VariantRef};
use crate::binary::Encode;

/// Types that are encoded as a Variant (OPC 10000-6, 5.2.2.16): [`Variant`] and [`VariantRef`].
pub trait AsVariant: Encode {}

impl AsVariant for Variant {}
impl AsVariant for VariantRef<'_> {}
impl<T: AsVariant> AsVariant for &T {}
