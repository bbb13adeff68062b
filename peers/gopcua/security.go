package main

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"
)

// Security is the security of a channel and the user of its Session; without a policy, there is neither.
type Security struct {
	Policy      string
	Mode        string
	Application string
	Certificate string
	Key         string
	User        string
	Password    string
	// Files of a user with a certificate.
	UserCertificate string
	UserKey         string
	// JSON Web Token of a user.
	Token string
}

// options returns the options of a client.
func (s Security) options(endpoint string) ([]opcua.Option, error) {
	if s.Policy == "" {
		return []opcua.Option{opcua.SecurityMode(ua.MessageSecurityModeNone)}, nil
	}
	offered, err := s.offered(endpoint)
	if err != nil {
		return nil, err
	}
	certificate, key, err := credentials(s.Certificate, s.Key)
	if err != nil {
		return nil, err
	}
	options := []opcua.Option{
		opcua.ApplicationURI(s.Application),
		opcua.Certificate(certificate),
		opcua.PrivateKey(key),
	}
	switch {
	case s.UserCertificate != "":
		certificate, key, err := credentials(s.UserCertificate, s.UserKey)
		if err != nil {
			return nil, err
		}
		return append(options, opcua.AuthCertificate(certificate), opcua.AuthPrivateKey(key),
			opcua.SecurityFromEndpoint(offered, ua.UserTokenTypeCertificate)), nil
	case s.Token != "":
		return append(options, opcua.AuthIssuedToken([]byte(s.Token)),
			opcua.SecurityFromEndpoint(offered, ua.UserTokenTypeIssuedToken)), nil
	case s.User != "":
		return append(options, opcua.AuthUsername(s.User, s.Password),
			opcua.SecurityFromEndpoint(offered, ua.UserTokenTypeUserName)), nil
	}
	return append(options, opcua.AuthAnonymous(),
		opcua.SecurityFromEndpoint(offered, ua.UserTokenTypeAnonymous)), nil
}

// credentials reads a certificate and its key.
func credentials(certificate, key string) ([]byte, *rsa.PrivateKey, error) {
	bytes, err := read(key)
	if err != nil {
		return nil, nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(bytes)
	if err != nil {
		return nil, nil, err
	}
	bytes, err = read(certificate)
	return bytes, parsed.(*rsa.PrivateKey), err
}

// offered returns the endpoint of the server with this security.
func (s Security) offered(endpoint string) (*ua.EndpointDescription, error) {
	endpoints, err := opcua.GetEndpoints(background, endpoint)
	if err != nil {
		return nil, err
	}
	mode := ua.MessageSecurityModeFromString(s.Mode)
	for _, offered := range endpoints {
		if offered.SecurityPolicyURI == ua.FormatSecurityPolicyURI(s.Policy) && offered.SecurityMode == mode {
			return offered, nil
		}
	}
	return nil, fmt.Errorf("the server does not offer %s, %s", s.Policy, s.Mode)
}

// read reads the first block of a PEM file.
func read(file string) ([]byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s is no PEM file", file)
	}
	return block.Bytes, nil
}
