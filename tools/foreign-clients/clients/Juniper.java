import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.text.SimpleDateFormat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Juniper: java Juniper.java NAME YYYY-MM-DD. */
public class Juniper {
    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(5)).build();
    private final String base = System.getenv("IDV_BASE_URL").replaceAll("/$", "");

    private String send(String path, String authorization, String contentType, String payload) throws Exception {
        HttpRequest request = HttpRequest.newBuilder()
                .uri(URI.create(base + path))
                .header("Authorization", authorization)
                .header("Content-Type", contentType)
                .POST(HttpRequest.BodyPublishers.ofString(payload))
                .build();
        HttpResponse<String> response =
                client.sendAsync(request, HttpResponse.BodyHandlers.ofString()).get(7, TimeUnit.SECONDS);
        if (response.statusCode() != 200) {
            throw new IOException("HTTP " + response.statusCode());
        }
        return response.body();
    }

    private String token() throws Exception {
        String credentials = System.getenv("IDV_CUSTOMER_ID") + ":" + System.getenv("IDV_API_KEY");
        String basic = Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8));
        Map<?, ?> grant = (Map<?, ?>) Json.parse(send("/oauth/service", "Basic " + basic,
                "application/x-www-form-urlencoded", "grant_type=client_credentials"));
        if (!(grant.get("access_token") instanceof String)) throw new IOException("no access token");
        return (String) grant.get("access_token");
    }

    private boolean clear(String name, Date born) throws Exception {
        String token = token();
        String payload = "{\"entity_type\":\"person\",\"name\":" + Json.quote(name) + ",\"dob\":\""
                + new SimpleDateFormat("dd-MM-yyyy").format(born) + "\"}";
        try {
            Map<?, ?> credential = (Map<?, ?>) Json.parse(send("/api/aml", "Bearer " + token, "application/json", payload));
            Map<?, ?> attributes = (Map<?, ?>) ((Map<?, ?>) credential.get("credentials")).get("attributes");
            String year = new SimpleDateFormat("yyyy").format(born);
            if (!"aml".equals(credential.get("credential_type"))
                    || !year.equals(attributes.get("birth_year"))
                    || !name.equalsIgnoreCase(((String) attributes.get("name")).trim())
                    || ((String) attributes.get("aml_profile")).isBlank()) {
                throw new IOException("unexpected credential");
            }
            String match = ((String) attributes.get("match_found")).trim();
            if (match.equalsIgnoreCase("no")) return true;
            if (match.equalsIgnoreCase("potential match")) return false;
            throw new IOException("unexpected match_found");
        } catch (Exception e) {
            System.err.println("AML request failed: " + e.getClass().getSimpleName() + ", request was " + payload);
            throw e;
        }
    }

    public static void main(String[] args) {
        try {
            String name = args[0].trim();
            Date born = new SimpleDateFormat("yyyy-MM-dd").parse(args[1]);
            if (name.isEmpty() || born.after(new Date())) throw new IllegalArgumentException("input");
            boolean clear = new Juniper().clear(name, born);
            System.out.println("aml.clear=" + clear);
            System.exit(clear ? 0 : 10);
        } catch (Exception e) {
            System.out.println("aml.error=" + e.getClass().getSimpleName());
            System.exit(11);
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
