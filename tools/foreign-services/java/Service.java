import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.ResolverStyle;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

/**
 * An identity verification service, written from its document alone, with the refusals of Spring.
 *
 *     java Service.java [--fault ID] [--list]
 *
 * It listens on a free port of 127.0.0.1 and prints the address, its customer and its key. `POST /clock` with a number
 * of milliseconds moves its clock. With `--fault`, one line of its behaviour is wrong; `--list` prints all faults.
 */
class Service {
  static final Map<String, String> FAULTS = new TreeMap<>(Map.ofEntries(
    Map.entry("echo-latin1", "the name is written in Latin-1, with ? for other characters"),
    Map.entry("year-week", "birth_year is the year of the week of the date (YYYY)"),
    Map.entry("searched-minutes", "searched_on has the month in place of the minutes (HH:MM:ss)"),
    Map.entry("shared-field", "the searched person is in a field that all requests share"),
    Map.entry("cache-by-name", "a response is kept for each name, without the date of birth"),
    Map.entry("name-64", "the name is cut after 64 characters"),
    Map.entry("no-profile", "aml_profile is absent for No"),
    Map.entry("match-case", "match_found of a listed person is Potential Match"),
    Map.entry("dob-rest", "text after the date of birth is ignored"),
    Map.entry("dob-iso", "a date of birth in the form yyyy-mm-dd is accepted too"),
    Map.entry("entity-absent", "entity_type may be absent"),
    Map.entry("empty-key", "an empty key is accepted"),
    Map.entry("any-customer", "the key is compared without the customer"),
    Map.entry("grant-absent", "grant_type may be absent"),
    Map.entry("token-get", "GET of the token endpoint is served as POST"),
    Map.entry("aml-put", "PUT of the AML check is served as POST"),
    Map.entry("scheme-unread", "the first seven characters of Authorization are skipped, and not compared"),
    Map.entry("token-tail", "characters after a token are ignored"),
    Map.entry("session-cookie", "a cookie of an earlier check replaces the token"),
    Map.entry("two-hours", "a token is valid for two hours")
  ));

  static final String CUSTOMER = "verifier-0417", KEY = "s3cr:t Ölüberg/+=";
  static final Set<String> LISTED = Set.of("Aurelio Bianchi-Testpep 03-08-1947", "Nadia Khoury 19-12-1972");
  static final DateTimeFormatter DOB =
    DateTimeFormatter.ofPattern("dd-MM-uuuu").withResolverStyle(ResolverStyle.STRICT);

  final String fault;
  final AtomicLong moved = new AtomicLong();
  final SecureRandom random = new SecureRandom();
  final Map<String, Instant> tokens = new ConcurrentHashMap<>();
  final Map<String, String> responses = new ConcurrentHashMap<>();
  final Set<String> sessions = ConcurrentHashMap.newKeySet();
  volatile String shared;

  Service(String fault) { this.fault = fault; }

  boolean wrong(String id) { return id.equals(fault); }

  Instant now() { return Instant.now().plusMillis(moved.get()); }

  static class Refusal extends Exception {
    final int status;
    Refusal(int status, String reason) { super(reason, null, false, false); this.status = status; }
  }

  String authorization(HttpExchange exchange, String scheme) throws Refusal {
    List<String> values = exchange.getRequestHeaders().getOrDefault("Authorization", List.of());
    if (values.size() != 1) throw new Refusal(401, "Unauthorized");
    String value = values.get(0);
    int start = scheme.length() + 1;
    boolean isScheme = value.length() > start && (value.substring(0, start).equalsIgnoreCase(scheme + " ")
      || wrong("scheme-unread") && scheme.equals("Bearer"));
    if (!isScheme) throw new Refusal(401, "Unauthorized");
    return value.substring(start);
  }

  String token(HttpExchange exchange, String body) throws Refusal {
    Instant requested = now();
    String credentials;
    try {
      credentials = decode(Base64.getDecoder().decode(authorization(exchange, "Basic")));
    } catch (IllegalArgumentException | CharacterCodingException e) {
      throw new Refusal(401, "Unauthorized");
    }
    int colon = credentials.indexOf(':');
    if (colon < 0) throw new Refusal(401, "Unauthorized");
    String id = credentials.substring(0, colon), key = credentials.substring(colon + 1);
    boolean isCustomer = id.equals(CUSTOMER) || wrong("any-customer");
    boolean isKey = key.equals(KEY) || wrong("empty-key") && key.isEmpty();
    if (!isCustomer || !isKey) throw new Refusal(401, "Unauthorized");

    String type = String.valueOf(exchange.getRequestHeaders().getFirst("Content-Type")).split(";")[0].strip();
    if (!type.equalsIgnoreCase("application/x-www-form-urlencoded") && !wrong("token-get")) {
      throw new Refusal(415, "Unsupported Media Type");
    }
    List<String> grants = new ArrayList<>();
    String query = exchange.getRequestMethod().equals("GET") ? exchange.getRequestURI().getRawQuery() : null;
    for (String pair : (query == null ? body : query).split("&")) {
      String[] field = pair.split("=", 2);
      try {
        if (field.length == 2 && URLDecoder.decode(field[0], StandardCharsets.UTF_8).equals("grant_type")) {
          grants.add(URLDecoder.decode(field[1], StandardCharsets.UTF_8));
        }
      } catch (IllegalArgumentException e) {
        throw new Refusal(400, "Bad Request");
      }
    }
    boolean isGrant = grants.equals(List.of("client_credentials")) || wrong("grant-absent") && grants.isEmpty();
    if (!isGrant) throw new Refusal(400, "Bad Request");

    byte[] bytes = new byte[48];
    random.nextBytes(bytes);
    String token = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    tokens.put(token, requested);
    return json("access_token", token, "scope", "aml.check", "token_type", "Bearer", "expires_in", 3599);
  }

  void authorize(HttpExchange exchange) throws Refusal {
    String cookie = String.valueOf(exchange.getRequestHeaders().getFirst("Cookie"));
    if (wrong("session-cookie") && sessions.stream().anyMatch(cookie::contains)) return;
    String token = authorization(exchange, "Bearer");
    Instant requested = wrong("token-tail")
      ? tokens.keySet().stream().filter(token::startsWith).findFirst().map(tokens::get).orElse(null)
      : tokens.get(token);
    long hour = wrong("two-hours") ? 7200 : 3600;
    if (requested == null || !now().isBefore(requested.plusSeconds(hour))) throw new Refusal(401, "Unauthorized");
    if (wrong("session-cookie")) {
      String session = UUID.randomUUID().toString();
      sessions.add(session);
      exchange.getResponseHeaders().add("Set-Cookie", "JSESSIONID=" + session + "; Path=/; HttpOnly");
    }
  }

  String check(HttpExchange exchange, String body) throws Refusal, InterruptedException {
    authorize(exchange);
    if (!(new Json(body).document() instanceof Map<?, ?> fields)) throw new Refusal(400, "Bad Request");
    boolean isPerson = "person".equals(fields.get("entity_type"))
      || wrong("entity-absent") && !fields.containsKey("entity_type");
    if (!isPerson || !(fields.get("name") instanceof String name) || !(fields.get("dob") instanceof String dob)
      || name.isBlank()) throw new Refusal(400, "Bad Request");
    LocalDate born = born(dob);

    if (wrong("shared-field")) {
      shared = name;
      Thread.sleep(15);
      name = shared;
    }
    if (wrong("name-64") && name.length() > 64) name = name.substring(0, 64);
    if (wrong("echo-latin1")) {
      name = new String(name.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.ISO_8859_1);
    }
    String response = credential(name, born);
    return wrong("cache-by-name") ? responses.computeIfAbsent(name, key -> response) : response;
  }

  LocalDate born(String dob) throws Refusal {
    try {
      if (dob.matches("[0-9]{2}-[0-9]{2}-[0-9]{4}")) return LocalDate.parse(dob, DOB);
      if (wrong("dob-rest") && dob.length() > 10) return LocalDate.parse(dob.substring(0, 10), DOB);
      if (wrong("dob-iso")) return LocalDate.parse(dob);
    } catch (java.time.DateTimeException e) {
      throw new Refusal(400, "Bad Request");
    }
    throw new Refusal(400, "Bad Request");
  }

  String credential(String name, LocalDate born) {
    boolean isListed = LISTED.contains(name + " " + born.format(DOB));
    String searched = wrong("searched-minutes") ? "yyyy-MM-dd HH:MM:ss" : "yyyy-MM-dd HH:mm:ss";
    String profile = "https://portal.verity.example/aml/" + UUID.randomUUID();
    String attributes = json(
      "name", name,
      "birth_year", born.format(DateTimeFormatter.ofPattern(wrong("year-week") ? "YYYY" : "uuuu")),
      "searched_on", now().atOffset(ZoneOffset.UTC).format(DateTimeFormatter.ofPattern(searched)),
      "match_found", isListed ? wrong("match-case") ? "Potential Match" : "Potential match" : "No",
      "aml_profile", wrong("no-profile") && !isListed ? null : profile
    );
    return "{\"credentials\":{\"attributes\":" + attributes + "}," + json(
      "credential_type", "aml",
      "credential_name", "AML",
      "issued_by", "Verity Onboarding DAC",
      "issuer_id", "6f1c1a52-93a5-4f0e-8d0f-5a1f7f3f2b64",
      "cred_version", "2.1"
    ).substring(1);
  }

  void handle(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath(), method = exchange.getRequestMethod();
    int status = 200;
    String response;
    try {
      String body = decode(exchange.getRequestBody().readAllBytes());
      if (path.equals("/clock")) {
        moved.addAndGet(Long.parseLong(body));
        response = "{}";
      } else if (path.equals("/oauth/service")) {
        allow(method.equals("POST") || wrong("token-get") && method.equals("GET"));
        response = token(exchange, body);
      } else if (path.equals("/api/aml")) {
        allow(method.equals("POST") || wrong("aml-put") && method.equals("PUT"));
        response = check(exchange, body);
      } else {
        throw new Refusal(404, "Not Found");
      }
    } catch (Refusal | CharacterCodingException | InterruptedException e) {
      status = e instanceof Refusal refusal ? refusal.status : 400;
      String reason = e instanceof Refusal ? e.getMessage() : "Bad Request";
      response = json("timestamp", now().toString(), "status", status, "error", reason, "path", path);
    }
    byte[] bytes = response.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/json;charset=UTF-8");
    if (status == 401) exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer");
    boolean isHead = method.equals("HEAD");
    exchange.sendResponseHeaders(status, isHead ? -1 : bytes.length);
    if (!isHead) exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  static void allow(boolean isAllowed) throws Refusal { if (!isAllowed) throw new Refusal(405, "Method Not Allowed"); }

  static String decode(byte[] bytes) throws CharacterCodingException {
    CharBuffer text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
    return text.toString();
  }

  /** An object of these names and values, without those that are null. */
  static String json(Object... pairs) {
    Map<String, String> fields = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      if (pairs[i + 1] != null) {
        fields.put(quoted(pairs[i]), pairs[i + 1] instanceof Integer number ? number.toString() : quoted(pairs[i + 1]));
      }
    }
    return fields.entrySet().stream().map(field -> field.getKey() + ":" + field.getValue())
      .collect(Collectors.joining(",", "{", "}"));
  }

  static String quoted(Object value) {
    StringBuilder text = new StringBuilder("\"");
    for (char c : value.toString().toCharArray()) {
      if (c == '"' || c == '\\') text.append('\\').append(c);
      else if (c < ' ' || Character.isSurrogate(c)) text.append(String.format("\\u%04x", (int) c));
      else text.append(c);
    }
    return text.append('"').toString();
  }

  /** A reader of JSON text (RFC 8259). Of a repeated name, the last value counts. */
  static class Json {
    final String text;
    int at;

    Json(String text) { this.text = text; }

    Object document() throws Refusal {
      Object value = value();
      if (peek() != 0) throw bad();
      return value;
    }

    Refusal bad() { return new Refusal(400, "Bad Request"); }

    char peek() {
      while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
      return at < text.length() ? text.charAt(at) : 0;
    }

    boolean take(char c) {
      if (peek() != c) return false;
      at++;
      return true;
    }

    Object value() throws Refusal {
      switch (peek()) {
        case '{': return object();
        case '[': return array();
        case '"': return string();
      }
      var literal = java.util.regex.Pattern.compile("true|false|null|-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?")
        .matcher(text).region(at, text.length());
      if (!literal.lookingAt()) throw bad();
      at = literal.end();
      return literal.group().equals("null") ? null : new StringBuilder(literal.group());
    }

    Map<String, Object> object() throws Refusal {
      Map<String, Object> fields = new LinkedHashMap<>();
      at++;
      if (take('}')) return fields;
      do {
        if (peek() != '"') throw bad();
        String name = string();
        if (!take(':')) throw bad();
        fields.put(name, value());
      } while (take(','));
      if (!take('}')) throw bad();
      return fields;
    }

    List<Object> array() throws Refusal {
      List<Object> items = new ArrayList<>();
      at++;
      if (take(']')) return items;
      do items.add(value()); while (take(','));
      if (!take(']')) throw bad();
      return items;
    }

    String string() throws Refusal {
      StringBuilder value = new StringBuilder();
      for (at++; at < text.length(); at++) {
        char c = text.charAt(at);
        if (c == '"') {
          at++;
          return value.toString();
        }
        if (c < ' ') throw bad();
        if (c != '\\') {
          value.append(c);
          continue;
        }
        int escape = ++at < text.length() ? "\"\\/bfnrtu".indexOf(text.charAt(at)) : -1;
        if (escape < 0) throw bad();
        if (escape < 8) {
          value.append("\"\\/\b\f\n\r\t".charAt(escape));
        } else {
          String digits = text.substring(at + 1, Math.min(at + 5, text.length()));
          if (!digits.matches("[0-9a-fA-F]{4}")) throw bad();
          value.append((char) Integer.parseInt(digits, 16));
          at += 4;
        }
      }
      throw bad();
    }
  }

  public static void main(String[] words) throws IOException {
    if (List.of(words).contains("--list")) {
      System.out.println(json(FAULTS.entrySet().stream().flatMap(e -> java.util.stream.Stream.of(e.getKey(), e.getValue()))
        .toArray()));
      return;
    }
    int option = List.of(words).indexOf("--fault");
    Service service = new Service(option < 0 ? "" : words[option + 1]);
    if (option >= 0 && !FAULTS.containsKey(service.fault)) throw new IllegalArgumentException("unknown fault");
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(Executors.newCachedThreadPool());
    server.createContext("/", service::handle);
    server.start();
    System.out.write((json("url", "http://127.0.0.1:" + server.getAddress().getPort(), "id", CUSTOMER, "key", KEY) + "\n")
      .getBytes(StandardCharsets.UTF_8));
    System.out.flush();
    // The service ends with its standard input.
    System.in.readAllBytes();
    System.exit(0);
  }
}
