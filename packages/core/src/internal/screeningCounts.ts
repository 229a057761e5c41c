/** Counts the people of a screening, in total and by outcome. */
const counterOf = {
  NoMatch: "noMatch",
  DoubtfulNo: "doubtfulNo",
  PotentialMatch: "potentialMatch",
  NotScreened: "notScreened",
  Unknown: "unknown"
} as const

export const make = () => {
  const counts = { total: 0, noMatch: 0, doubtfulNo: 0, potentialMatch: 0, notScreened: 0, unknown: 0, notBegun: 0 }
  return {
    onTaken: (): void => {
      counts.total++
    },
    onNotStarted: (count: number): void => {
      counts.total += count
      counts.notBegun += count
    },
    count: (outcome: keyof typeof counterOf): void => {
      counts[counterOf[outcome]]++
    },
    read: () => ({ ...counts })
  }
}
