import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.milo.opcua.sdk.server.EndpointConfig;
import org.eclipse.milo.opcua.sdk.server.OpcUaServer;
import org.eclipse.milo.opcua.sdk.server.OpcUaServerConfig;
import org.eclipse.milo.opcua.sdk.server.identity.AnonymousIdentityValidator;
import org.eclipse.milo.opcua.sdk.server.identity.CompositeValidator;
import org.eclipse.milo.opcua.sdk.server.identity.UsernameIdentityValidator;
import org.eclipse.milo.opcua.sdk.server.identity.X509IdentityValidator;
import org.eclipse.milo.opcua.stack.core.NodeIds;
import org.eclipse.milo.opcua.stack.core.security.CertificateFactory;
import org.eclipse.milo.opcua.stack.core.security.CertificateGroup;
import org.eclipse.milo.opcua.stack.core.security.CertificateValidator;
import org.eclipse.milo.opcua.stack.core.security.DefaultCertificateManager;
import org.eclipse.milo.opcua.stack.core.security.MemoryCertificateQuarantine;
import org.eclipse.milo.opcua.stack.core.security.MemoryTrustListManager;
import org.eclipse.milo.opcua.stack.core.security.SecurityPolicy;
import org.eclipse.milo.opcua.stack.core.security.TrustListManager;
import org.eclipse.milo.opcua.stack.core.types.builtin.LocalizedText;
import org.eclipse.milo.opcua.stack.core.types.builtin.NodeId;
import org.eclipse.milo.opcua.stack.core.types.builtin.unsigned.Unsigned;
import org.eclipse.milo.opcua.stack.core.types.enumerated.MessageSecurityMode;
import org.eclipse.milo.opcua.stack.core.types.enumerated.UserTokenType;
import org.eclipse.milo.opcua.stack.core.types.structured.UserTokenPolicy;
import org.eclipse.milo.opcua.stack.transport.server.tcp.OpcTcpServerTransport;
import org.eclipse.milo.opcua.stack.transport.server.tcp.OpcTcpServerTransportConfig;

/** A server of Milo, as peers/README.md describes it: with secured endpoints, or with Events and without security. */
final class Server {
  /** The certificate of the server, which accepts those of all clients. */
  private static final class Group implements CertificateGroup {
    private final KeyPair keys;
    private final X509Certificate[] chain;
    private final TrustListManager trusted = new MemoryTrustListManager();

    Group(X509Certificate certificate, KeyPair keys) {
      this.keys = keys;
      chain = new X509Certificate[] {certificate};
    }

    @Override
    public NodeId getCertificateGroupId() {
      return NodeIds.ServerConfiguration_CertificateGroups_DefaultApplicationGroup;
    }

    @Override
    public List<NodeId> getSupportedCertificateTypeIds() {
      return List.of(NodeIds.RsaSha256ApplicationCertificateType);
    }

    @Override
    public TrustListManager getTrustListManager() {
      return trusted;
    }

    @Override
    public List<Entry> getCertificateEntries() {
      NodeId type = NodeIds.RsaSha256ApplicationCertificateType;
      return List.of(new Entry(getCertificateGroupId(), type, chain));
    }

    @Override
    public Optional<KeyPair> getKeyPair(NodeId type) {
      return Optional.of(keys);
    }

    @Override
    public Optional<X509Certificate[]> getCertificateChain(NodeId type) {
      return Optional.of(chain);
    }

    @Override
    public void updateCertificate(NodeId type, KeyPair keys, X509Certificate[] chain) {
      throw new UnsupportedOperationException();
    }

    @Override
    public CertificateFactory getCertificateFactory() {
      throw new UnsupportedOperationException();
    }

    @Override
    public CertificateValidator getCertificateValidator() {
      return (certificates, uri, hosts) -> {};
    }
  }

  /** Returns a kind of users. Milo refuses passwords without a policy here. */
  private static UserTokenPolicy token(String id, UserTokenType type, SecurityPolicy policy) {
    return new UserTokenPolicy(id, type, null, null, policy.getUri());
  }

  /** Returns the endpoints: each policy in both modes, or one without security if nothing is requested. */
  private static Set<EndpointConfig> endpoints(
      String request, int port, X509Certificate certificate) {
    EndpointConfig.Builder builder =
        EndpointConfig.newBuilder()
            .setBindAddress("127.0.0.1")
            .setBindPort(port)
            .setHostname("127.0.0.1")
            .setCertificate(certificate);
    Set<EndpointConfig> endpoints = new LinkedHashSet<>();
    if (request.isEmpty()) {
      UserTokenPolicy anonymous = token("anonymous", UserTokenType.Anonymous, SecurityPolicy.None);
      endpoints.add(builder.addTokenPolicies(anonymous).build());
    }
    Matcher policies = Pattern.compile("\"policies\": *\\[([^\\]]*)").matcher(request);
    if (policies.find()) {
      for (String name : policies.group(1).replaceAll("[\" ]", "").split(",")) {
        SecurityPolicy policy = SecurityPolicy.valueOf(name);
        EndpointConfig.Builder one =
            builder
                .copy()
                .setSecurityPolicy(policy)
                .addTokenPolicies(
                    token("anonymous", UserTokenType.Anonymous, SecurityPolicy.None),
                    token("username", UserTokenType.UserName, policy),
                    token("certificate", UserTokenType.Certificate, policy));
        for (MessageSecurityMode mode :
            List.of(MessageSecurityMode.Sign, MessageSecurityMode.SignAndEncrypt)) {
          endpoints.add(one.copy().setSecurityMode(mode).build());
        }
      }
    }
    return endpoints;
  }

  /** Serves until the input ends. */
  static void run(int requested, String security) throws Exception {
    int port = requested;
    if (port == 0) {
      try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
        port = probe.getLocalPort();
      }
    }
    boolean isSecured = !security.isEmpty();
    X509Certificate certificate = null;
    List<CertificateGroup> groups = List.of();
    if (isSecured) {
      certificate = Security.certificate(Main.field(security, "certificate"));
      PrivateKey key = Security.key(Main.field(security, "key"));
      KeyPair keys = new KeyPair(certificate.getPublicKey(), key);
      groups = List.of(new Group(certificate, keys));
    }
    OpcUaServerConfig config =
        OpcUaServerConfig.builder()
            .setApplicationName(LocalizedText.english("Milo peer"))
            .setApplicationUri(
                isSecured ? Main.field(security, "application") : "urn:takt:peers:milo")
            .setEndpoints(endpoints(security, port, certificate))
            .setIdentityValidator(
                new CompositeValidator(
                    AnonymousIdentityValidator.INSTANCE,
                    new UsernameIdentityValidator(
                        user ->
                            "anna".equals(user.getUsername())
                                && "hammer".equals(user.getPassword())),
                    new X509IdentityValidator(user -> isUser(security, user))))
            .setCertificateManager(
                new DefaultCertificateManager(new MemoryCertificateQuarantine(), groups))
            .build();
    OpcUaServer server =
        new OpcUaServer(
            config,
            profile ->
                new OpcTcpServerTransport(
                    OpcTcpServerTransportConfig.newBuilder()
                        .setMinimumSecureChannelLifetime(Unsigned.uint(1000))
                        .build()));
    Nodes nodes = new Nodes(server);
    nodes.startup();
    server.startup().get();
    if (!isSecured) {
      AtomicInteger number = new AtomicInteger();
      Runnable report = () -> nodes.report(number.getAndIncrement());
      server.getScheduledExecutorService().scheduleAtFixedRate(report, 50, 50, TimeUnit.MILLISECONDS);
    }
    System.out.printf(
        "{\"ready\":true,\"endpoint\":\"opc.tcp://127.0.0.1:%d\",\"namespace\":%s}%n",
        port, nodes.getNamespaceIndex());
    // Nothing is ever sent to us: the end of the input is the end.
    while (System.in.read() >= 0) {}
    System.exit(0);
  }

  /** Returns whether a certificate is that of the user in the description. */
  private static boolean isUser(String security, X509Certificate certificate) {
    try {
      return certificate.equals(Security.certificate(Main.field(security, "userCertificate")));
    } catch (IOException | GeneralSecurityException unreadable) {
      return false;
    }
  }
}
