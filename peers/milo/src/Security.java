import java.io.IOException;
import java.io.InputStream;
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
import org.eclipse.milo.opcua.sdk.client.identity.UsernameProvider;
import org.eclipse.milo.opcua.stack.core.security.SecurityPolicy;
import org.eclipse.milo.opcua.stack.core.types.structured.EndpointDescription;

/** The security of a channel and the user of its Session; without a policy, there is neither. */
final class Security {
  private final SecurityPolicy policy;
  private final String mode;
  private final String application;
  private final String certificate;
  private final String key;
  private final String user;
  private final String password;

  Security(String request) {
    String name = Main.field(request, "policy");
    policy = name.isEmpty() ? SecurityPolicy.None : SecurityPolicy.valueOf(name);
    mode = name.isEmpty() ? "None" : Main.field(request, "mode");
    application = Main.field(request, "application");
    certificate = Main.field(request, "certificate");
    key = Main.field(request, "key");
    user = Main.field(request, "user");
    password = Main.field(request, "password");
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
    }
    try {
      X509Certificate own = certificate();
      return config
          .setApplicationUri(application)
          .setCertificate(own)
          .setCertificateChain(new X509Certificate[] {own})
          .setKeyPair(new KeyPair(own.getPublicKey(), key()));
    } catch (IOException | GeneralSecurityException error) {
      throw new Main.Failed(error.toString());
    }
  }

  private X509Certificate certificate() throws IOException, GeneralSecurityException {
    try (InputStream input = Files.newInputStream(Path.of(certificate))) {
      return (X509Certificate) CertificateFactory.getInstance("X.509").generateCertificate(input);
    }
  }

  private PrivateKey key() throws IOException, GeneralSecurityException {
    String text = Files.readString(Path.of(key)).replaceAll("-----[^-]+-----", "");
    byte[] bytes = Base64.getMimeDecoder().decode(text);
    return KeyFactory.getInstance("RSA").generatePrivate(new PKCS8EncodedKeySpec(bytes));
  }
}
