//! NodeSet2 XML documents.
