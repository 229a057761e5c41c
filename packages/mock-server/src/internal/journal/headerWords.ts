/** Words of usual headers, in lower case. None of them can be a secret or identify a person. */

const words = (...lines: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(lines.flatMap((line) => line.split(" ")))

/** Names of headers of HTTP, proxies, browsers and tracers. */
export const names = words(
  "accept accept-charset accept-encoding accept-language accept-ranges access-control-request-headers",
  "access-control-request-method age allow alt-svc alt-used authorization b3 baggage cache-control cf-connecting-ip",
  "cf-ray client-ip connection content-disposition content-encoding content-language content-length content-location",
  "content-md5 content-range content-security-policy content-type cookie date digest dnt dpop etag expect expires",
  "forwarded from host http2-settings idempotency-key if-match if-modified-since if-none-match if-range",
  "if-unmodified-since keep-alive last-modified link location max-forwards origin pragma prefer priority",
  "proxy-authenticate proxy-authorization proxy-connection purpose range referer referrer-policy request-id retry-after",
  "save-data sec-ch-ua sec-ch-ua-mobile sec-ch-ua-platform sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user",
  "sec-gpc sec-websocket-accept sec-websocket-extensions sec-websocket-key sec-websocket-protocol",
  "sec-websocket-version server set-cookie signature signature-input soapaction strict-transport-security te traceparent",
  "tracestate trailer transfer-encoding true-client-ip uber-trace-id upgrade upgrade-insecure-requests user-agent vary",
  "via warning www-authenticate x-amzn-trace-id x-api-key x-auth-token x-b3-flags x-b3-parentspanid x-b3-sampled",
  "x-b3-spanid x-b3-traceid x-client-id x-cloud-trace-context x-content-type-options x-correlation-id x-csrf-token",
  "x-customer-id x-datadog-parent-id x-datadog-sampling-priority x-datadog-trace-id x-envoy-attempt-count",
  "x-forwarded-for x-forwarded-host x-forwarded-port x-forwarded-prefix x-forwarded-proto x-forwarded-server",
  "x-frame-options x-http-method-override x-powered-by x-real-ip x-request-id x-request-start x-requested-with",
  "x-session-id x-tenant-id x-trace-id x-xss-protection"
)

export const charsets = words("* utf-8 utf8 us-ascii ascii iso-8859-1 latin1 iso-8859-15 utf-16 windows-1252 q")

/** Types and subtypes of media types, and their parameters. */
export const mediaTypes = words(
  "* application audio font image message multipart text video",
  "avif calendar cbor css csv event-stream form-data gif graphql html javascript jpeg json jsonp jwt mixed msgpack",
  "octet-stream pdf plain png problem+json problem+xml protobuf svg+xml webp x-json x-ndjson x-protobuf",
  "x-www-form-urlencoded xhtml+xml xml yaml zip apng signed-exchange ld+json hal+json vnd.api+json",
  "json-patch+json merge-patch+json",
  "boundary charset q profile version",
  "utf-8 utf8 us-ascii ascii iso-8859-1 latin1 iso-8859-15 utf-16 windows-1252"
)

export const codings = words("* aws-chunked br chunked compress deflate gzip identity trailers x-gzip zstd q")

export const languages = words(
  "* q ar cs da de de-at de-ch de-de el en en-au en-ca en-gb en-ie en-in en-us es es-es es-mx fi fr fr-be fr-ca fr-ch",
  "fr-fr he hi hu it it-it ja ja-jp ko-kr nb nl nl-nl nl-be pl pl-pl pt pt-br pt-pt ro ru ru-ru sv sv-se tr tr-tr uk",
  "zh-cn zh-tw"
)

export const cacheControl = words(
  "0 immutable max-age max-stale min-fresh must-revalidate no-cache no-store no-transform only-if-cached private public",
  "s-maxage"
)

export const connection = words("close h2c http2-settings keep-alive te tls upgrade websocket 1.0 1.1 1.2 1.3")

export const methods = words("connect delete get head options patch post put trace")

export const challenges = words("basic bearer charset error idv-mock invalid_request invalid_token realm utf-8")

export const fetch = words(
  "?0 ?1 cors cross-site document empty iframe image navigate no-cors none same-origin same-site script style websocket"
)

/** Programs that send requests, and the other words of a browser's `User-Agent`. A version may follow any of them. */
export const agents = words(
  "aiohttp apache-httpclient applewebkit axios bun chrome chromium curl dart deno edg effect-idv fetch firefox gecko",
  "go-http-client got guzzlehttp headlesschrome http httpclient httpie httpx insomnia java java-http-client jest",
  "k6 khtml kotlin ktor-client ky like mozilla node node-fetch node.js nodejs oauth4webapi okhttp openid-client opera opr",
  "php postman postmanruntime prism puppeteer python python-httpx python-requests python-urllib reactornetty restsharp",
  "ruby rust reqwest safari simple-oauth2 spring superagent undici urllib3 vitest wget wiremock",
  "aarch64 amd64 android arm64 compatible cpu intel iphone ipad linux linux-gnu mac macintosh mobile nt os ubuntu version",
  "win64 windows wow64 x x11 x64 x86_64"
)
