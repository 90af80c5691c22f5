//! TLS to a database: verified against named authorities, or not at all where that is configured.

use crate::source::Tls;
use domain::{Fault, Kind};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;

pub fn connector(source: &str, tls: Option<&Tls>) -> Result<MakeRustlsConnect, Fault> {
    let mut roots = RootCertStore::empty();
    if let Some(tls) = tls {
        let certificates = match &tls.ca {
            Some(file) => {
                CertificateDer::pem_file_iter(file).and_then(|found| found.collect::<Result<Vec<_>, _>>()).ok()
            }
            None => Some(rustls_native_certs::load_native_certs().certs),
        };
        let (added, _) = roots.add_parsable_certificates(certificates.unwrap_or_default());
        if added == 0 {
            let message = format!("source `{source}` has no authority that its certificate could be verified by");
            let hint = "name the authority's PEM file as `ca`, or install the system's certificates";
            return Err(Fault::new(Kind::Unavailable, "source.authority", message).hint(hint));
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|_| Fault::internal("engine.tls"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}
