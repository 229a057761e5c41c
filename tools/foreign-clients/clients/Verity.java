import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.time.Duration;
import java.time.LocalDate;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.format.ResolverStyle;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Verity AML check: java Verity.java NAME YYYY-MM-DD.
 *
 * Prints RESULT: CLEAR (exit 0), RESULT: REVIEW (exit 3) or RESULT: ERROR code (exit 4).
 */
public class Verity {
    private static final Duration DEADLINE = Duration.ofSeconds(12);
    private static final DateTimeFormatter INPUT =
            DateTimeFormatter.ofPattern("uuuu-MM-dd", Locale.ROOT).withResolverStyle(ResolverStyle.STRICT);
    private static final DateTimeFormatter SERVICE = DateTimeFormatter.ofPattern("dd-MM-uuuu", Locale.ROOT);

    /** The code is safe to print. */
    static final class VerityException extends Exception {
        VerityException(String code) {
            super(code, null, false, false);
        }
    }

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(Duration.ofSeconds(4))
            .build();
    private final long ends = System.nanoTime() + DEADLINE.toNanos();
    private final String base;

    private Verity(String base) {
        this.base = base.replaceAll("/+$", "");
    }

    private Map<?, ?> post(String step, String path, String authorization, String type, String body)
            throws VerityException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(base + path))
                .header("Authorization", authorization)
                .header("Content-Type", type)
                .header("Accept", "application/json")
                .POST(HttpRequest.BodyPublishers.ofString(body, StandardCharsets.UTF_8))
                .build();
        HttpResponse<String> response;
        try {
            // The timeout of the future also covers the body; the one of the request does not.
            response = http.sendAsync(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8))
                    .get(Math.max(1, ends - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new VerityException(step + "-timeout");
        } catch (ExecutionException e) {
            throw new VerityException(step + "-connection");
        }
        if (response.statusCode() != 200) throw new VerityException(step + "-status-" + response.statusCode());
        try {
            if (Json.parse(response.body()) instanceof Map<?, ?> map) return map;
        } catch (IllegalArgumentException e) {
            // Reported below, without the text that did not parse.
        }
        throw new VerityException(step + "-body");
    }

    private static String fold(String text) {
        return Normalizer.normalize(text, Normalizer.Form.NFC).toLowerCase(Locale.ROOT).strip().replaceAll("\\s+", " ");
    }

    private static String text(Map<?, ?> map, String field) throws VerityException {
        if (map.get(field) instanceof String value && !value.isBlank()) return value;
        throw new VerityException("check-field-" + field);
    }

    private String check(String customer, String key, String name, LocalDate born) throws Exception {
        String basic = Base64.getEncoder().encodeToString((customer + ":" + key).getBytes(StandardCharsets.UTF_8));
        Map<?, ?> grant = post("token", "/oauth/service", "Basic " + basic,
                "application/x-www-form-urlencoded", "grant_type=client_credentials");
        if (!(grant.get("access_token") instanceof String token) || !token.matches("[!-~]+")) {
            throw new VerityException("token-body");
        }
        String body = "{\"entity_type\":\"person\",\"name\":" + Json.quote(name)
                + ",\"dob\":" + Json.quote(SERVICE.format(born)) + "}";
        Map<?, ?> credential = post("check", "/api/aml", "Bearer " + token, "application/json", body);
        if (!"aml".equals(credential.get("credential_type"))
                || !(credential.get("credentials") instanceof Map<?, ?> holder)
                || !(holder.get("attributes") instanceof Map<?, ?> attributes)) {
            throw new VerityException("check-credential");
        }
        String year = String.format(Locale.ROOT, "%04d", born.getYear());
        if (!year.equals(text(attributes, "birth_year")) || !fold(name).equals(fold(text(attributes, "name")))) {
            throw new VerityException("check-person");
        }
        text(attributes, "aml_profile");
        switch (text(attributes, "match_found")) {
            case "No":
                return "CLEAR";
            case "Potential match":
                return "REVIEW";
            default:
                throw new VerityException("check-match-value");
        }
    }

    private static String setting(String name) throws VerityException {
        String value = System.getenv(name);
        if (value == null || value.isBlank()) throw new VerityException("configuration");
        return value;
    }

    public static void main(String[] args) {
        int exit = 4;
        String line;
        try {
            if (args.length != 2 || args[0].isBlank()) throw new VerityException("input");
            LocalDate born = LocalDate.parse(args[1], INPUT);
            if (born.isAfter(LocalDate.now())) throw new VerityException("input");
            Verity verity = new Verity(setting("IDV_BASE_URL"));
            line = verity.check(setting("IDV_CUSTOMER_ID"), setting("IDV_API_KEY"), args[0].strip(), born);
            exit = line.equals("CLEAR") ? 0 : 3;
        } catch (VerityException e) {
            line = "ERROR " + e.getMessage();
        } catch (DateTimeParseException e) {
            line = "ERROR input";
        } catch (Exception e) {
            line = "ERROR " + e.getClass().getSimpleName();
        }
        System.out.println("RESULT: " + line);
        System.exit(exit);
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
