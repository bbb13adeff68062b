#!/bin/sh
# Makes the certificate of a server or broker: certificate.sh ADDRESS FOLDER. It is FOLDER/server.crt, with the curve
# P-256, and its key is FOLDER/server.key. It signs itself, and is no authority: rustls takes none as a server's.
set -eu
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" \
    -addext "subjectAltName=IP:$1" -addext "basicConstraints=critical,CA:FALSE" \
    -keyout "$2/server.key" -out "$2/server.crt" 2>"$2/openssl.log"
