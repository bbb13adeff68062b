#!/bin/sh
# Makes what DDS Security 1.1 needs: dds-security.sh FOLDER. An authority signs the certificates of server and client,
# and the documents governance and permissions (sections 9.3 and 9.4). All keys have the curve P-256.
set -eu
cd "$1"
exec 2>dds-security.log
curve="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"

openssl req -x509 $curve -days 2 -subj "/CN=authority" -keyout authority.key -out authority.crt
for side in server client; do
    openssl req $curve -subj "/CN=$side" -keyout "$side.key" -out "$side.csr"
    openssl x509 -req -in "$side.csr" -CA authority.crt -CAkey authority.key -CAcreateserial -days 2 -out "$side.crt"
done

# Each RTPS message is encrypted and authenticated, once: submessages and payloads are not encrypted again.
cat >governance.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<dds>
  <domain_access_rules>
    <domain_rule>
      <domains><id>0</id></domains>
      <allow_unauthenticated_participants>false</allow_unauthenticated_participants>
      <enable_join_access_control>true</enable_join_access_control>
      <discovery_protection_kind>NONE</discovery_protection_kind>
      <liveliness_protection_kind>NONE</liveliness_protection_kind>
      <rtps_protection_kind>ENCRYPT</rtps_protection_kind>
      <topic_access_rules>
        <topic_rule>
          <topic_expression>*</topic_expression>
          <enable_discovery_protection>false</enable_discovery_protection>
          <enable_liveliness_protection>false</enable_liveliness_protection>
          <enable_read_access_control>true</enable_read_access_control>
          <enable_write_access_control>true</enable_write_access_control>
          <metadata_protection_kind>NONE</metadata_protection_kind>
          <data_protection_kind>NONE</data_protection_kind>
        </topic_rule>
      </topic_access_rules>
    </domain_rule>
  </domain_access_rules>
</dds>
END

grant() {
    cat <<END
    <grant name="$1">
      <subject_name>CN=$1</subject_name>
      <validity><not_before>2020-01-01T00:00:00</not_before><not_after>2037-12-31T00:00:00</not_after></validity>
      <allow_rule>
        <domains><id>0</id></domains>
        <publish><topics><topic>*</topic></topics></publish>
        <subscribe><topics><topic>*</topic></topics></subscribe>
      </allow_rule>
      <default>DENY</default>
    </grant>
END
}
cat >permissions.xml <<END
<?xml version="1.0" encoding="UTF-8"?>
<dds>
  <permissions>
$(grant server)
$(grant client)
  </permissions>
</dds>
END

for document in governance permissions; do
    openssl smime -sign -text -in "$document.xml" -out "$document.p7s" -signer authority.crt -inkey authority.key
done
