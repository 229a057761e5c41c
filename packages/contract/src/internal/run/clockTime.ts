/** The next time of a form, for the steps that move a clock to it. */

/** The milliseconds from `now` to the next time such as `12-31T23:59:55` or `T23:59:55`, in UTC. */
export const untilNext = (until: string, now: number): number => {
  const [day = "", time = ""] = until.split("T")
  const today = new Date(now).toISOString()
  const at = (year: number): number => Date.parse(`${year}-${day === "" ? today.slice(5, 10) : day}T${time}Z`)
  const year = Number(today.slice(0, 4))
  const next = day === "" ? at(year) + 24 * 3_600_000 : at(year + 1)
  return (at(year) > now ? at(year) : next) - now
}
