import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Gannet customer screening: java Gannet.java NAME YYYY-MM-DD. */
public class Gannet {
    enum Verdict { CLEAR, REVIEW }

    // The head office is in Toronto.
    static final ZoneId ZONE = ZoneId.of("America/Toronto");
    static final DateTimeFormatter DOB = DateTimeFormatter.ofPattern("dd-MM-uuuu").withZone(ZONE);
    static final DateTimeFormatter YEAR = DateTimeFormatter.ofPattern("uuuu").withZone(ZONE);

    record Customer(String name, Instant born) { }

    static final class HttpStatusException extends Exception {
        final int status;

        HttpStatusException(int status) {
            super("HTTP " + status);
            this.status = status;
        }
    }

    static Map<?, ?> post(HttpClient http, String path, String authorization, String type, String body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(System.getenv("IDV_BASE_URL").replaceAll("/$", "") + path))
                .timeout(Duration.ofSeconds(8))
                .header("Authorization", authorization)
                .header("Content-Type", type)
                .POST(HttpRequest.BodyPublishers.ofString(body, StandardCharsets.UTF_8))
                .build();
        HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) throw new HttpStatusException(response.statusCode());
        return (Map<?, ?>) Json.parse(response.body());
    }

    static Verdict screen(Customer customer) throws Exception {
        HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        byte[] pair = (System.getenv("IDV_CUSTOMER_ID") + ":" + System.getenv("IDV_API_KEY")).getBytes(StandardCharsets.UTF_8);
        Map<?, ?> grant = post(http, "/oauth/service", "Basic " + Base64.getEncoder().encodeToString(pair),
                "application/x-www-form-urlencoded", "grant_type=client_credentials");
        String token = (String) grant.get("access_token");
        if (token == null || token.isEmpty()) throw new IllegalStateException("no token");
        String body = "{\"entity_type\":\"person\",\"name\":" + Json.quote(customer.name())
                + ",\"dob\":\"" + DOB.format(customer.born()) + "\"}";
        Map<?, ?> credential;
        try {
            credential = post(http, "/api/aml", "Bearer " + token, "application/json", body);
        } catch (HttpStatusException e) {
            // The person is in none of the lists.
            if (e.status == 404) return Verdict.CLEAR;
            throw e;
        }
        if (!"aml".equals(credential.get("credential_type"))) throw new IllegalStateException("credential type");
        Map<?, ?> attributes = (Map<?, ?>) ((Map<?, ?>) credential.get("credentials")).get("attributes");
        if (!customer.name().equalsIgnoreCase((String) attributes.get("name"))
                || !YEAR.format(customer.born()).equals(attributes.get("birth_year"))
                || ((String) attributes.get("aml_profile")).isEmpty()) {
            throw new IllegalStateException("credential of another person");
        }
        Object match = attributes.get("match_found");
        if ("No".equals(match)) return Verdict.CLEAR;
        if ("Potential match".equals(match)) return Verdict.REVIEW;
        throw new IllegalStateException("match_found");
    }

    public static void main(String[] args) {
        try {
            LocalDate date = LocalDate.parse(args[1]);
            if (args[0].isBlank() || date.isAfter(LocalDate.now())) throw new IllegalArgumentException();
            Verdict verdict = screen(new Customer(args[0].strip(), date.atStartOfDay(ZoneOffset.UTC).toInstant()));
            System.out.println("verdict " + verdict);
            System.exit(verdict.ordinal());
        } catch (Exception e) {
            System.out.println("verdict UNKNOWN " + e.getClass().getSimpleName());
            System.exit(50);
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
