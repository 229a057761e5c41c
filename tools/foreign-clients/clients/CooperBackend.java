import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** Cooper sign-up backend: POST /sign-up {"name", "date_of_birth"}. */
public class CooperBackend {
    static final String BASE = System.getenv("IDV_BASE_URL").replaceAll("/+$", "");
    static final Duration TOKEN_AGE = Duration.ofMinutes(50);
    static final HttpClient HTTP = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(3)).build();

    static String token;
    static long tokenUntil;

    static CompletableFuture<Map<?, ?>> post(String path, String authorization, String type, String body) {
        HttpRequest request = HttpRequest.newBuilder(URI.create(BASE + path))
                .header("Authorization", authorization).header("Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofString(body)).build();
        return HTTP.sendAsync(request, HttpResponse.BodyHandlers.ofString()).thenApply(response -> {
            if (response.statusCode() == 401) forget(authorization);
            if (response.statusCode() != 200) throw new IllegalStateException("status " + response.statusCode());
            return (Map<?, ?>) Json.parse(response.body());
        });
    }

    static synchronized void forget(String authorization) {
        if (authorization.equals("Bearer " + token)) token = null;
    }

    static synchronized String token() throws Exception {
        if (token == null || System.nanoTime() - tokenUntil > 0) {
            long requested = System.nanoTime();
            String pair = System.getenv("IDV_CUSTOMER_ID") + ":" + System.getenv("IDV_API_KEY");
            String basic = Base64.getEncoder().encodeToString(pair.getBytes(StandardCharsets.UTF_8));
            Map<?, ?> grant = post("/oauth/service", "Basic " + basic, "application/x-www-form-urlencoded",
                    "grant_type=client_credentials").get(4, TimeUnit.SECONDS);
            token = (String) grant.get("access_token");
            if (token == null) throw new IllegalStateException("no token");
            tokenUntil = requested + TOKEN_AGE.toNanos();
        }
        return token;
    }

    static boolean clear(String name, LocalDate born) throws Exception {
        String authorization = "Bearer " + token();
        String body = "{\"entity_type\":\"person\",\"name\":" + Json.quote(name) + ",\"dob\":\""
                + born.format(DateTimeFormatter.ofPattern("dd-MM-uuuu")) + "\"}";
        CompletableFuture<Map<?, ?>> first = post("/api/aml", authorization, "application/json", body);
        // Some requests are slow for no reason. A second one brings the 99th percentile down.
        CompletableFuture<Map<?, ?>> second = new CompletableFuture<>();
        CompletableFuture.delayedExecutor(1500, TimeUnit.MILLISECONDS).execute(() -> {
            if (!first.isDone()) {
                post("/api/aml", authorization, "application/json", body).thenAccept(second::complete);
            }
        });
        Map<?, ?> credential = (Map<?, ?>) CompletableFuture.anyOf(first, second).get(8, TimeUnit.SECONDS);
        Map<?, ?> attributes = (Map<?, ?>) ((Map<?, ?>) credential.get("credentials")).get("attributes");
        if (!"aml".equals(credential.get("credential_type"))
                || !name.equalsIgnoreCase((String) attributes.get("name"))
                || !String.valueOf(born.getYear()).equals(attributes.get("birth_year"))
                || ((String) attributes.get("aml_profile")).isEmpty()) {
            throw new IllegalStateException("credential");
        }
        Object match = attributes.get("match_found");
        if ("No".equals(match)) return true;
        if ("Potential match".equals(match)) return false;
        throw new IllegalStateException("match_found");
    }

    static void reply(HttpExchange exchange, int status, String body) throws IOException {
        byte[] data = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, data.length);
        exchange.getResponseBody().write(data);
        exchange.close();
    }

    static void signUp(HttpExchange exchange) throws IOException {
        if (!exchange.getRequestMethod().equals("POST")) {
            reply(exchange, 405, "{}");
            return;
        }
        String name;
        LocalDate born;
        try {
            String raw = new String(exchange.getRequestBody().readNBytes(65536), StandardCharsets.UTF_8);
            Map<?, ?> form = (Map<?, ?>) Json.parse(raw);
            name = ((String) form.get("name")).strip();
            born = LocalDate.parse((String) form.get("date_of_birth"));
            if (name.isEmpty() || born.isAfter(LocalDate.now())) throw new IllegalArgumentException();
        } catch (RuntimeException e) {
            reply(exchange, 400, "{\"account\":\"invalid\"}");
            return;
        }
        boolean clear;
        try {
            clear = clear(name, born);
        } catch (Exception e) {
            clear = false;
        }
        System.out.println("sign-up name=" + name + " born=" + born + " clear=" + clear);
        if (clear) reply(exchange, 201, "{\"account\":\"open\"}");
        else reply(exchange, 202, "{\"account\":\"under review\"}");
    }

    public static void main(String[] args) throws Exception {
        int port = Integer.parseInt(System.getenv("PORT"));
        HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
        server.createContext("/sign-up", CooperBackend::signUp);
        server.createContext("/healthz", exchange -> reply(exchange, 200, "{}"));
        server.setExecutor(Executors.newCachedThreadPool());
        server.start();
        System.out.println("cooper started");
    }

    /** A small JSON reader: objects become maps, arrays become lists. */
    static final class Json {
        private final String text;
        private int at;

        private Json(String text) {
            this.text = text;
        }

        static Object parse(String text) {
            Json json = new Json(text);
            Object value = json.value(0);
            json.space();
            if (json.at != text.length()) throw new IllegalArgumentException("trailing text");
            return value;
        }

        private void space() {
            while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
        }

        private char next() {
            if (at >= text.length()) throw new IllegalArgumentException("end of text");
            return text.charAt(at++);
        }

        private boolean take(char wanted) {
            space();
            if (at < text.length() && text.charAt(at) == wanted) {
                at++;
                return true;
            }
            return false;
        }

        private void need(char wanted) {
            if (!take(wanted)) throw new IllegalArgumentException("expected " + wanted);
        }

        private Object value(int depth) {
            if (depth > 50) throw new IllegalArgumentException("too deep");
            if (take('{')) {
                Map<String, Object> map = new LinkedHashMap<>();
                if (take('}')) return map;
                do {
                    need('"');
                    String key = string();
                    need(':');
                    map.put(key, value(depth + 1));
                } while (take(','));
                need('}');
                return map;
            }
            if (take('[')) {
                List<Object> list = new ArrayList<>();
                if (take(']')) return list;
                do {
                    list.add(value(depth + 1));
                } while (take(','));
                need(']');
                return list;
            }
            if (take('"')) return string();
            space();
            int start = at;
            while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) at++;
            String word = text.substring(start, at);
            switch (word) {
                case "true":
                    return true;
                case "false":
                    return false;
                case "null":
                    return null;
                default:
                    return Double.valueOf(word);
            }
        }

        private String string() {
            StringBuilder out = new StringBuilder();
            for (char c = next(); c != '"'; c = next()) {
                if (c < ' ') throw new IllegalArgumentException("control character");
                if (c != '\\') {
                    out.append(c);
                    continue;
                }
                c = next();
                int simple = "\"\\/bfnrt".indexOf(c);
                if (simple >= 0) {
                    out.append("\"\\/\b\f\n\r\t".charAt(simple));
                } else if (c == 'u' && at + 4 <= text.length()) {
                    out.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                    at += 4;
                } else {
                    throw new IllegalArgumentException("escape");
                }
            }
            return out.toString();
        }

        static String quote(String value) {
            StringBuilder out = new StringBuilder("\"");
            for (char c : value.toCharArray()) {
                if (c == '"' || c == '\\') out.append('\\').append(c);
                else if (c < ' ') out.append(String.format("\\u%04x", (int) c));
                else out.append(c);
            }
            return out.append('"').toString();
        }
    }
}
