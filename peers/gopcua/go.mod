// A client of gopcua: see peers/README.md.
module takt/peers/gopcua

go 1.23

require github.com/gopcua/opcua v0.8.0
