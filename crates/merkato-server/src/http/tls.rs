//! TLS by rustls, from two files in PEM.

use std::sync::Arc;

use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use tokio_rustls::TlsAcceptor;

use super::{app::StartError, settings::TlsSettings};

pub fn acceptor(settings: &TlsSettings) -> Result<TlsAcceptor, StartError> {
    let refused = |what: String| move |problem: String| StartError::Tls { what, problem };
    let of_certificate = refused(format!("tls.certificate {}", settings.certificate.display()));
    let chain = CertificateDer::pem_file_iter(&settings.certificate)
        .and_then(|certificates| certificates.collect::<Result<Vec<_>, _>>())
        .map_err(|error| of_certificate(error.to_string()))?;
    let of_key = refused(format!("tls.key {}", settings.key.display()));
    let key = PrivateKeyDer::from_pem_file(&settings.key).map_err(|error| of_key(error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = config.and_then(|config| config.with_no_client_auth().with_single_cert(chain, key));
    let mut config = config.map_err(|error| StartError::Tls { what: "tls".into(), problem: error.to_string() })?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
