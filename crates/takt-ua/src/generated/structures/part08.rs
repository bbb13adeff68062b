// Written by `cargo xtask generate`. Do not edit.

//! Structures defined in OPC 10000-8.

use crate::generated::enumerations::AxisScaleEnumeration;
use crate::generated_support::structure;
use crate::{LocalizedText, UaString, Variant};

structure! {
    /// DataType `AnnotationDataType`, `i=32434`, OPC 10000-8, 6.6.1.
    AnnotationDataType = 32434, 32560 {
        "Annotation" annotation: UaString,
        "Discipline" discipline: UaString,
        "Uri" uri: UaString,
    }

    /// DataType `AxisInformation`, `i=12079`, OPC 10000-8, 5.6.7.
    AxisInformation = 12079, 12089 {
        "EngineeringUnits" engineering_units: EUInformation,
        "EURange" eu_range: Range,
        "Title" title: LocalizedText,
        "AxisScaleType" axis_scale_type: AxisScaleEnumeration,
        "AxisSteps" axis_steps: Vec<f64>,
    }

    /// DataType `ComplexNumberType`, `i=12171`, OPC 10000-8, 5.6.5.
    ComplexNumberType = 12171, 12181 {
        "Real" real: f32,
        "Imaginary" imaginary: f32,
    }

    /// DataType `DoubleComplexNumberType`, `i=12172`, OPC 10000-8, 5.6.6.
    DoubleComplexNumberType = 12172, 12182 {
        "Real" real: f64,
        "Imaginary" imaginary: f64,
    }

    /// DataType `EUInformation`, `i=887`, OPC 10000-8, 5.6.4.3.
    EUInformation = 887, 889 {
        "NamespaceUri" namespace_uri: UaString,
        "UnitId" unit_id: i32,
        "DisplayName" display_name: LocalizedText,
        "Description" description: LocalizedText,
    }

    /// DataType `LinearConversionDataType`, `i=32435`, OPC 10000-8, 6.6.2.
    LinearConversionDataType = 32435, 32561 {
        "InitialAddend" initial_addend: f32,
        "Multiplicand" multiplicand: f32,
        "Divisor" divisor: f32,
        "FinalAddend" final_addend: f32,
    }

    /// DataType `NumberRange`, `i=23903`, OPC 10000-8, 5.6.3.
    NumberRange = 23903, 24250 {
        "Low" low: Variant,
        "High" high: Variant,
    }

    /// DataType `QuantityDimension`, `i=32438`, OPC 10000-8, 6.6.4.
    QuantityDimension = 32438, 32562 {
        "MassExponent" mass_exponent: i8,
        "LengthExponent" length_exponent: i8,
        "TimeExponent" time_exponent: i8,
        "ElectricCurrentExponent" electric_current_exponent: i8,
        "AmountOfSubstanceExponent" amount_of_substance_exponent: i8,
        "LuminousIntensityExponent" luminous_intensity_exponent: i8,
        "AbsoluteTemperatureExponent" absolute_temperature_exponent: i8,
        "DimensionlessExponent" dimensionless_exponent: i8,
    }

    /// DataType `Range`, `i=884`, OPC 10000-8, 5.6.2.
    Range = 884, 886 {
        "Low" low: f64,
        "High" high: f64,
    }

    /// DataType `XVType`, `i=12080`, OPC 10000-8, 5.6.9.
    XVType = 12080, 12090 {
        "X" x: f64,
        "Value" value: f32,
    }
}
