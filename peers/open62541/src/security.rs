//! Security of a client or a server, as the JSON object of `peers/README.md` describes it.

use std::ffi::{CString, c_void};
use std::ptr::{from_ref, null, null_mut};

use open62541_sys as sys;
use serde_json::Value;

use crate::Status;
use crate::data::{Owned, description};

/// Name and password of the user that a server knows.
const USER: (&str, &str) = ("anna", "hammer");

/// Sides of a policy.
const CLIENT: sys::UA_ApplicationType = sys::UA_ApplicationType::UA_APPLICATIONTYPE_CLIENT;
const SERVER: sys::UA_ApplicationType = sys::UA_ApplicationType::UA_APPLICATIONTYPE_SERVER;

/// Function of open62541 that makes a SecurityPolicy. The policies with elliptic curves have one certificate for each side.
#[derive(Clone, Copy)]
enum Constructor {
    Rsa(
        unsafe extern "C" fn(
            *mut sys::UA_SecurityPolicy,
            sys::UA_ByteString,
            sys::UA_ByteString,
            *const sys::UA_Logger,
        ) -> sys::UA_StatusCode,
    ),
    Ecc(
        unsafe extern "C" fn(
            *mut sys::UA_SecurityPolicy,
            sys::UA_ApplicationType,
            sys::UA_ByteString,
            sys::UA_ByteString,
            *const sys::UA_Logger,
        ) -> sys::UA_StatusCode,
    ),
}

/// SecurityPolicies that a description may name, as in OPC 10000-7.
const POLICIES: [(&str, Constructor); 5] = [
    (
        "Basic256Sha256",
        Constructor::Rsa(sys::UA_SecurityPolicy_Basic256Sha256),
    ),
    (
        "Aes128_Sha256_RsaOaep",
        Constructor::Rsa(sys::UA_SecurityPolicy_Aes128Sha256RsaOaep),
    ),
    (
        "Aes256_Sha256_RsaPss",
        Constructor::Rsa(sys::UA_SecurityPolicy_Aes256Sha256RsaPss),
    ),
    (
        "ECC_nistP256",
        Constructor::Ecc(sys::UA_SecurityPolicy_EccNistP256),
    ),
    (
        "ECC_nistP384",
        Constructor::Ecc(sys::UA_SecurityPolicy_EccNistP384),
    ),
];

/// Certificate (DER) and private key (PEM).
struct Credentials {
    certificate: Owned<sys::UA_String>,
    key: Vec<u8>,
}

impl Credentials {
    /// Reads the files that two fields of a description name.
    fn read(description: &Value, certificate: &str, key: &str) -> Result<Self, String> {
        Ok(Self {
            certificate: read_certificate(text(description, certificate)?)?,
            key: read(text(description, key)?)?.into_bytes(),
        })
    }

    /// Appends a policy with this certificate to a list that open62541 allocated.
    ///
    /// # Safety
    /// `policies` must be null, or `size` policies in memory of `malloc`.
    unsafe fn append_policy(
        &self,
        name: &str,
        side: sys::UA_ApplicationType,
        policies: &mut *mut sys::UA_SecurityPolicy,
        size: &mut usize,
        logger: *const sys::UA_Logger,
    ) -> Result<(), String> {
        let found = POLICIES.iter().find(|(known, _)| *known == name);
        let (_, constructor) = found.ok_or_else(|| format!("`{name}` is not a policy"))?;
        let (certificate, key) = (self.certificate.lend(), borrow(&self.key));
        // SAFETY: open62541 moves its policies itself in this way. The new place is zeroed before it is filled; the constructor
        // copies what it is lent.
        let made = unsafe {
            let bytes = (*size + 1) * size_of::<sys::UA_SecurityPolicy>();
            let moved = libc::realloc((*policies).cast(), bytes).cast::<sys::UA_SecurityPolicy>();
            if moved.is_null() {
                return Err("no memory".to_owned());
            }
            *policies = moved;
            let place = moved.add(*size);
            place.write_bytes(0, 1);
            match *constructor {
                Constructor::Rsa(make) => make(place, certificate, key, logger),
                Constructor::Ecc(make) => make(place, side, certificate, key, logger),
            }
        };
        Status::check(made).map_err(|status| format!("{name}: {status}"))?;
        *size += 1;
        Ok(())
    }
}

/// Lets a client use the policy, the mode and the user of a description.
///
/// # Errors
/// Mistake in the description, or in one of its files.
pub fn secure_client(config: &mut sys::UA_ClientConfig, wanted: &Value) -> Result<(), String> {
    let policy = text(wanted, "policy")?;
    let own = Credentials::read(wanted, "certificate", "key")?;
    config.securityMode = mode(text(wanted, "mode")?)?;
    if let Some(lifetime) = wanted["lifetime"].as_u64() {
        config.secureChannelLifeTime = u32::try_from(lifetime).unwrap_or(u32::MAX);
    }
    set_text(&mut config.securityPolicyUri, &policy_uri(policy))?;
    let application = text(wanted, "application")?;
    set_text(&mut config.clientDescription.applicationUri, application)?;
    // SAFETY: the lists are those of a configuration that open62541 has filled.
    unsafe {
        own.append_policy(
            policy,
            CLIENT,
            &mut config.securityPolicies,
            &mut config.securityPoliciesSize,
            config.logging,
        )?;
    }
    if wanted["userCertificate"].is_string() {
        let user = Credentials::read(wanted, "userCertificate", "userKey")?;
        // SAFETY: the configuration is complete; the function copies what it is lent. It makes policies with RSA only.
        let set = unsafe {
            sys::UA_ClientConfig_setAuthenticationCert(
                config,
                user.certificate.lend(),
                borrow(&user.key),
            )
        };
        Status::check(set).map_err(|status| format!("user certificate: {status}"))?;
        // SAFETY: as above.
        unsafe {
            user.append_policy(
                policy,
                CLIENT,
                &mut config.authSecurityPolicies,
                &mut config.authSecurityPoliciesSize,
                config.logging,
            )?;
        }
    } else if let Some(token) = wanted["token"].as_str() {
        set_issued_token(config, token)?;
    } else if let Some(user) = wanted["user"].as_str().filter(|user| !user.is_empty()) {
        let user = c_text(user)?;
        let password = c_text(wanted["password"].as_str().unwrap_or_default())?;
        // SAFETY: the configuration is complete, and both texts are zero-terminated; they are copied.
        let set = unsafe {
            sys::UA_ClientConfig_setAuthenticationUsername(config, user.as_ptr(), password.as_ptr())
        };
        Status::check(set).map_err(|status| status.to_string())?;
    }
    Ok(())
}

/// Lets a client activate its Session with an IssuedIdentityToken.
fn set_issued_token(config: &mut sys::UA_ClientConfig, token: &str) -> Result<(), String> {
    let mut issued = sys::UA_IssuedIdentityToken::default();
    set_text(&mut issued.tokenData, token)?;
    let issued = Owned::new(issued);
    let mut lent = issued.lend();
    // SAFETY: the ExtensionObject is the configuration's, and empty until now; the value is of the type named, and copied.
    let set = unsafe {
        sys::UA_ExtensionObject_setValueCopy(
            &raw mut config.userIdentityToken,
            (&raw mut lent).cast::<c_void>(),
            description::<sys::UA_IssuedIdentityToken>(),
        )
    };
    Status::check(set).map_err(|status| status.to_string())
}

/// Lets a server offer the policies of a description in both modes, and nothing without security. It accepts every client, the
/// anonymous user, the user `anna`, and the certificate of a user that the description names.
///
/// # Errors
/// Mistake in the description, or in one of its files.
pub fn secure_server(config: &mut sys::UA_ServerConfig, wanted: &Value) -> Result<(), String> {
    let own = Credentials::read(wanted, "certificate", "key")?;
    let application = text(wanted, "application")?;
    set_text(
        &mut config.applicationDescription.applicationUri,
        application,
    )?;
    let policies = wanted["policies"].as_array().into_iter().flatten();
    for policy in policies.filter_map(Value::as_str) {
        // SAFETY: the list is that of a configuration that open62541 has filled.
        unsafe {
            own.append_policy(
                policy,
                SERVER,
                &mut config.securityPolicies,
                &mut config.securityPoliciesSize,
                config.logging,
            )?;
        }
        let uri = c_text(&policy_uri(policy))?;
        for mode in ["Sign", "SignAndEncrypt"] {
            // SAFETY: the text is zero-terminated, becomes a String of open62541, and is copied.
            let added = unsafe {
                let uri = Owned::<sys::UA_String>::new(sys::UA_String_fromChars(uri.as_ptr()));
                sys::UA_ServerConfig_addEndpoint(config, uri.lend(), self::mode(mode)?)
            };
            Status::check(added).map_err(|status| format!("{policy}: {status}"))?;
        }
    }
    if wanted["userCertificate"].is_string() {
        trust_user(config, text(wanted, "userCertificate")?)?;
    }
    let (name, password) = (c_text(USER.0)?, c_text(USER.1)?);
    // SAFETY: the texts are zero-terminated; the login is copied by open62541, and freed here.
    let set = unsafe {
        let name = Owned::<sys::UA_String>::new(sys::UA_String_fromChars(name.as_ptr()));
        let password = Owned::<sys::UA_String>::new(sys::UA_String_fromChars(password.as_ptr()));
        let login = sys::UA_UsernamePasswordLogin {
            username: name.lend(),
            password: password.lend(),
        };
        sys::UA_AccessControl_default(config, true, null(), 1, from_ref(&login))
    };
    Status::check(set).map_err(|status| status.to_string())
}

/// Lets a server accept one certificate of users.
fn trust_user(config: &mut sys::UA_ServerConfig, file: &str) -> Result<(), String> {
    let certificate = read_certificate(file)?;
    let mut certificate = certificate.lend();
    // DefaultUserTokenGroup.
    let group = Owned::<sys::UA_NodeId>::from_json(&"i=14122".into());
    let group = group.map_err(|status| status.to_string())?;
    let mut group = group.lend();
    let list = sys::UA_TrustListDataType {
        specifiedLists: sys::UA_TrustListMasks::UA_TRUSTLISTMASKS_TRUSTEDCERTIFICATES.0,
        trustedCertificatesSize: 1,
        trustedCertificates: &raw mut certificate,
        ..Default::default()
    };
    // SAFETY: the group is the configuration's, the list is copied, and a null pointer asks for the default limits.
    let set = unsafe {
        sys::UA_CertificateGroup_Memorystore(
            &raw mut config.sessionPKI,
            &raw mut group,
            from_ref(&list),
            config.logging,
            null_mut(),
        )
    };
    Status::check(set).map_err(|status| format!("{file}: {status}"))
}

fn policy_uri(policy: &str) -> String {
    format!("http://opcfoundation.org/UA/SecurityPolicy#{policy}")
}

fn mode(name: &str) -> Result<sys::UA_MessageSecurityMode, String> {
    match name {
        "Sign" => Ok(sys::UA_MessageSecurityMode::UA_MESSAGESECURITYMODE_SIGN),
        "SignAndEncrypt" => Ok(sys::UA_MessageSecurityMode::UA_MESSAGESECURITYMODE_SIGNANDENCRYPT),
        other => Err(format!("`{other}` is not a mode")),
    }
}

/// Replaces a String of open62541.
fn set_text(place: &mut sys::UA_String, text: &str) -> Result<(), String> {
    let text = c_text(text)?;
    // SAFETY: the String is initialised, and the text zero-terminated; it is copied.
    unsafe {
        sys::UA_String_clear(place);
        *place = sys::UA_String_fromChars(text.as_ptr());
    }
    Ok(())
}

fn c_text(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|error| error.to_string())
}

fn text<'a>(description: &'a Value, name: &str) -> Result<&'a str, String> {
    let found = description[name].as_str();
    found.ok_or_else(|| format!("`{name}` is missing in {description}"))
}

fn read(file: &str) -> Result<String, String> {
    std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))
}

/// Reads a certificate in PEM, and returns it in DER.
fn read_certificate(file: &str) -> Result<Owned<sys::UA_String>, String> {
    let pem = read(file)?;
    let lines = pem.lines().filter(|line| !line.starts_with("-----"));
    let base64: String = lines.collect();
    let mut certificate = sys::UA_ByteString::default();
    // SAFETY: the text is borrowed for the call, and the result is ours to write.
    let decoded = unsafe {
        sys::UA_ByteString_fromBase64(&raw mut certificate, from_ref(&borrow(base64.as_bytes())))
    };
    let certificate = Owned::new(certificate);
    Status::check(decoded).map_err(|status| format!("{file}: {status}"))?;
    Ok(certificate)
}

/// A ByteString of open62541 for a function that only reads it.
fn borrow(bytes: &[u8]) -> sys::UA_ByteString {
    sys::UA_ByteString {
        length: bytes.len(),
        data: bytes.as_ptr().cast_mut(),
    }
}
