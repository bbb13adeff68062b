import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.eclipse.milo.opcua.stack.core.UaException;
import org.eclipse.milo.opcua.stack.transport.client.tcp.OpcTcpClientTransportConfigBuilder;

/** The checks of peers/README.md, by Milo: one JSON line for each line of the input. */
public final class Main {
  /** A check that has failed. */
  @SuppressWarnings("serial")
  static final class Failed extends RuntimeException {
    Failed(String text) {
      super(text);
    }
  }

  static void expect(boolean condition, String format, Object... arguments) {
    if (!condition) {
      throw new Failed(String.format(format, arguments));
    }
  }

  /** One check that is to be run. */
  static final class Task {
    final String check;
    final String endpoint;
    final String namespace;
    final String start;
    final Security security;
    private final BufferedReader input;
    private final List<Session> sessions = new ArrayList<>();

    Task(String request, BufferedReader input) {
      this.input = input;
      check = field(request, "check");
      endpoint = field(request, "endpoint");
      namespace = field(request, "namespace");
      start = field(request, "start");
      security = new Security(request);
    }

    /** Returns a new Session. */
    Session session() throws UaException {
      return session(transport -> {});
    }

    Session session(Consumer<OpcTcpClientTransportConfigBuilder> transport) throws UaException {
      Session session = new Session(endpoint, namespace, security, transport);
      sessions.add(session);
      return session;
    }

    /** Asks the driver for something, and returns its answer. */
    String want(String what) throws IOException {
      System.out.println("{\"want\":\"" + what + "\"}");
      return input.readLine();
    }

    void close() {
      for (Session session : sessions) {
        session.client.disconnectAsync().exceptionally(gone -> null).join();
      }
    }
  }

  /** Returns a field of a JSON object of Strings without escapes, as the driver sends it. */
  static String field(String request, String name) {
    Matcher matcher = Pattern.compile("\"" + name + "\": *\"?([^\",}]*)").matcher(request);
    return matcher.find() ? matcher.group(1) : "";
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') {
        quoted.append('\\');
      }
      quoted.append(c < ' ' ? ' ' : c);
    }
    return quoted.append('"').toString();
  }

  /** Runs one check, whatever becomes of it. */
  private static String run(Task task) {
    String start = "{\"check\":" + quoted(task.check);
    Checks.Check check = Checks.ALL.get(task.check);
    if (check == null) {
      return start + ",\"missing\":true}";
    }
    try {
      return start + ",\"ok\":true,\"counted\":" + check.run(task) + "}";
    } catch (Exception error) {
      StackTraceElement[] trace = error.getStackTrace();
      String place = "";
      for (StackTraceElement element : trace) {
        if (element.getClassName().matches("Checks|Subscriptions|Watch|Alarms")) {
          place = " at " + element;
          break;
        }
      }
      return start + ",\"ok\":false,\"error\":" + quoted(error + place) + "}";
    } finally {
      task.close();
    }
  }

  public static void main(String[] arguments) throws Exception {
    // Milo takes RSA-PSS from it, by the name SHA256withRSA/PSS.
    java.security.Security.addProvider(new BouncyCastleProvider());
    if (arguments.length >= 2 && arguments[0].equals("server")) {
      Server.run(Integer.parseInt(arguments[1]), arguments.length > 2 ? arguments[2] : "");
      return;
    }
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = input.readLine()) != null; ) {
      System.out.println(run(new Task(line, input)));
    }
    // Threads of the library stay.
    System.exit(0);
  }
}
