/**
 * The names and addresses of this machine. The client allows `http:` to them without `allowInsecure`.
 *
 * @since 0.1.0
 */

/**
 * Whether a host is this machine: `localhost`, `127.0.0.0/8` or `::1`, with or without brackets.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isLoopback = (host: string): boolean => /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/.test(host)
