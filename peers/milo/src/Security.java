import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import org.eclipse.milo.opcua.sdk.client.OpcUaClientConfigBuilder;
import org.eclipse.milo.opcua.sdk.client.identity.SignedIdentityToken;
import org.eclipse.milo.opcua.sdk.client.identity.UsernameProvider;
import org.eclipse.milo.opcua.sdk.client.identity.X509IdentityProvider;
import org.eclipse.milo.opcua.stack.core.security.SecurityPolicy;
import org.eclipse.milo.opcua.stack.core.types.builtin.ByteString;
import org.eclipse.milo.opcua.stack.core.types.enumerated.UserTokenType;
import org.eclipse.milo.opcua.stack.core.types.structured.EndpointDescription;
import org.eclipse.milo.opcua.stack.core.types.structured.IssuedIdentityToken;
import org.eclipse.milo.opcua.stack.core.types.structured.SignatureData;
import org.eclipse.milo.opcua.stack.core.types.structured.UserTokenPolicy;

/** The security of a channel and the user of its Session; without a policy, there is neither. */
final class Security {
  private final SecurityPolicy policy;
  private final String mode;
  private final String application;
  private final String certificate;
  private final String key;
  private final String user;
  private final String password;
  private final String userCertificate;
  private final String userKey;
  private final String token;

  Security(String request) {
    String name = Main.field(request, "policy");
    policy = name.isEmpty() ? SecurityPolicy.None : SecurityPolicy.valueOf(name);
    mode = name.isEmpty() ? "None" : Main.field(request, "mode");
    application = Main.field(request, "application");
    certificate = Main.field(request, "certificate");
    key = Main.field(request, "key");
    user = Main.field(request, "user");
    password = Main.field(request, "password");
    userCertificate = Main.field(request, "userCertificate");
    userKey = Main.field(request, "userKey");
    token = Main.field(request, "token");
  }

  /** Returns whether an endpoint has this security. */
  boolean isOf(EndpointDescription endpoint) {
    return policy.getUri().equals(endpoint.getSecurityPolicyUri())
        && mode.equals(endpoint.getSecurityMode().name());
  }

  OpcUaClientConfigBuilder configure(OpcUaClientConfigBuilder config) {
    if (policy == SecurityPolicy.None) {
      return config;
    }
    if (!user.isEmpty()) {
      config.setIdentityProvider(new UsernameProvider(user, password));
    } else if (!token.isEmpty()) {
      config.setIdentityProvider((endpoint, nonce) -> issued(endpoint));
    }
    try {
      if (!userCertificate.isEmpty()) {
        config.setIdentityProvider(
            new X509IdentityProvider(certificate(userCertificate), key(userKey)));
      }
      X509Certificate own = certificate(certificate);
      return config
          .setApplicationUri(application)
          .setCertificate(own)
          .setCertificateChain(new X509Certificate[] {own})
          .setKeyPair(new KeyPair(own.getPublicKey(), key(key)));
    } catch (IOException | GeneralSecurityException error) {
      throw new Main.Failed(error.toString());
    }
  }

  /** Returns the token of a user, which an encrypted channel carries as it is. */
  private SignedIdentityToken issued(EndpointDescription endpoint) {
    for (UserTokenPolicy policy : endpoint.getUserIdentityTokens()) {
      if (policy.getTokenType() == UserTokenType.IssuedToken) {
        ByteString data = ByteString.of(token.getBytes(StandardCharsets.UTF_8));
        return new SignedIdentityToken(
            new IssuedIdentityToken(policy.getPolicyId(), data, null),
            new SignatureData(null, null));
      }
    }
    throw new Main.Failed("the server accepts no issued token");
  }

  static X509Certificate certificate(String file) throws IOException, GeneralSecurityException {
    try (InputStream input = Files.newInputStream(Path.of(file))) {
      return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(input);
    }
  }

  static PrivateKey key(String file) throws IOException, GeneralSecurityException {
    String text = Files.readString(Path.of(file)).replaceAll("-----[^-]+-----", "");
    byte[] bytes = Base64.getMimeDecoder().decode(text);
    return KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(bytes));
  }
}
