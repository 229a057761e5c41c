import java.net.URI;
import java.net.http.*;
import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.concurrent.TimeUnit;

/** Brackish screening tool. Arguments: name, date of birth (YYYY-MM-DD). */
public class Brackish {
    static final DateTimeFormatter DOB = DateTimeFormatter.ofPattern("dd-MM-YYYY", Locale.US);
    static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(3)).build();
    static final String BASE = Objects.requireNonNullElse(System.getenv("IDV_BASE_URL"), "");

    static Map<?, ?> post(String path, String auth, String type, String body, int seconds) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create((BASE + path).replaceAll("(?<!:)/+", "/")))
                .headers("Authorization", auth, "Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofString(body)).build();
        HttpResponse<String> response = HTTP.sendAsync(request, HttpResponse.BodyHandlers.ofString())
                .get(seconds, TimeUnit.SECONDS);
        if (response.statusCode() != 200) throw new IllegalStateException("status " + response.statusCode());
        return (Map<?, ?>) Json.parse(response.body());
    }

    static boolean matches(String name, LocalDate born) throws Exception {
        String pair = Objects.requireNonNull(System.getenv("IDV_CUSTOMER_ID")) + ":"
                + Objects.requireNonNull(System.getenv("IDV_API_KEY"));
        Object token = post("/oauth/service", "Basic " + Base64.getEncoder().encodeToString(pair.getBytes("UTF-8")),
                "application/x-www-form-urlencoded", "grant_type=client_credentials", 4).get("access_token");
        if (!(token instanceof String)) throw new IllegalStateException("no token");
        String json = String.format("{\"entity_type\": \"person\", \"name\": %s, \"dob\": \"%s\"}",
                Json.quote(name), DOB.format(born));
        Map<?, ?> credential = post("/api/aml", "Bearer " + token, "application/json", json, 9);
        Map<?, ?> attributes = (Map<?, ?>) ((Map<?, ?>) credential.get("credentials")).get("attributes");
        if (!"aml".equals(credential.get("credential_type"))) throw new IllegalStateException("credential type");
        if (!attributes.get("birth_year").equals(String.valueOf(born.getYear()))
                || !name.equalsIgnoreCase((String) attributes.get("name"))) {
            throw new IllegalStateException("other person");
        }
        if (((String) attributes.get("aml_profile")).isEmpty()) throw new IllegalStateException("no profile");
        String found = (String) attributes.get("match_found");
        if (found.equals("Potential match")) return true;
        if (found.equals("No")) return false;
        throw new IllegalStateException("match_found");
    }

    public static void main(String[] args) {
        try {
            String name = args[0].trim();
            LocalDate born = LocalDate.parse(args[1]);
            if (name.isEmpty() || born.isAfter(LocalDate.now())) throw new IllegalArgumentException("input");
            boolean match = matches(name, born);
            System.out.println(match ? "MATCH" : "NO_MATCH");
            System.exit(match ? 1 : 0);
        } catch (Exception e) {
            System.out.println("FAILED " + e.getClass().getSimpleName());
            System.exit(2);
        }
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
