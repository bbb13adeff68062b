//! opc.iox2.
