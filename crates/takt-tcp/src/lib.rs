//! opc.tcp.
