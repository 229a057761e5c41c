/** 1 MiB, more than any response of the service needs. */
export const maxBytes = 1024 * 1024
