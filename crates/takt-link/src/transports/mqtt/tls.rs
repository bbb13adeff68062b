//! TLS side of `mqtts://`.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

use crate::error::LinkError;
use crate::options::MqttOptions;

fn failed<E: ToString>(what: &'static str) -> impl Fn(E) -> LinkError {
    move |cause| LinkError::Certificate {
        what,
        cause: cause.to_string(),
    }
}

/// Returns the configuration of certificates and versions; those of TLS are 1.2 and 1.3.
pub(super) fn config(options: &MqttOptions) -> Result<Arc<ClientConfig>, LinkError> {
    let mut roots = RootCertStore::empty();
    match &options.trusted_certificates {
        Some(pem) => {
            let what = "trusted_certificates";
            for certificate in CertificateDer::pem_slice_iter(pem) {
                let certificate = certificate.map_err(failed(what))?;
                roots.add(certificate).map_err(failed(what))?;
            }
            if roots.is_empty() {
                return Err(failed(what)("the text contains no certificate"));
            }
        }
        None => {
            let found = rustls_native_certs::load_native_certs();
            // One unreadable certificate of the system does not spoil the others.
            let (added, _) = roots.add_parsable_certificates(found.certs);
            if added == 0 {
                let cause = found.errors.first().map(ToString::to_string);
                let cause = cause.unwrap_or_else(|| "no certificate found".to_owned());
                return Err(failed("the operating system's certificates")(cause));
            }
        }
    }
    // Named here: a program with several providers has no default one.
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(failed("the versions of TLS"))?
        .with_root_certificates(roots);
    let Some((chain, key)) = &options.client_certificate else {
        return Ok(Arc::new(config.with_no_client_auth()));
    };
    let what = "client_certificate";
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
    let key = PrivateKeyDer::from_pem_slice(key).map_err(failed(what))?;
    let config = config.with_client_auth_cert(chain.map_err(failed(what))?, key);
    Ok(Arc::new(config.map_err(failed(what))?))
}
