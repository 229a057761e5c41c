/** Whether a name or address, without brackets, means this machine. A server that listens on it accepts only its own connections. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host)
