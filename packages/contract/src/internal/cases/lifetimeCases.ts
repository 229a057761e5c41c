/** The hour of a token, and the time of a search, on a target whose clock can be moved. */
import type { Case } from "../model.ts"
import type { AmlStep, ClockStep, Step, TokenStep } from "../steps.ts"
import { check } from "./probes.ts"
import * as TestPeople from "./testPeople.ts"

const token: TokenStep = { to: "token" }

const second = 1
const minute = 60 * second
const hour = 60 * minute

/** How long before its end a token is used, because the requests of a case take their time too. */
const before = 5 * second

/** How long after its end a token is used, because the time of its request is known to a second only. */
const behind = 2 * second

const after = (advance: number): ClockStep => ({ to: "clock", advance })

const valid = (index = 0): AmlStep => ({ ...check(), token: index, isValid: true })

const ended = (index = 0): AmlStep => ({ ...check(), token: index, isValid: false })

const lifetime = (id: string, title: string, steps: ReadonlyArray<Step>): Case => ({
  id: `token.lifetime${id}`,
  claim: "token.lifetime",
  title,
  steps,
  reading: "lifetime"
})

const exposed: AmlStep = { ...check({ body: TestPeople.bodyOf(TestPeople.exposed) }), token: 0 }

const documented: AmlStep = check()

/** Nine days in three months, each later in the day than the last. */
const later: ReadonlyArray<Step> = Array.from({ length: 9 }, (_, i) => [
  token,
  { ...exposed, token: i },
  after(11 * 24 * hour + 5 * hour + 7 * minute + 13)
]).flat()

/**
 * Times at which a text of a time, a token or a list may change: midnight, a full hour, hours, days and months of one
 * digit, the ends of months and of the year, the weeks of two years, and the birthdays of the test people.
 */
const moments = [
  "T00:59:55",
  "T09:08:07",
  "T12:29:55",
  "T23:59:55",
  "01-31T23:59:55",
  "02-01T10:20:30",
  "02-28T23:59:55",
  "03-14T03:04:59.600",
  "12-29T10:00:00",
  "12-31T23:59:55",
  "T12:59:55",
  "01-03T22:59:55"
]

/** Two people before and after each of these times, with a token of their own. */
const aroundMoments: ReadonlyArray<Step> = moments.flatMap((until, i): ReadonlyArray<Step> => [
  { to: "clock", until },
  token,
  { ...exposed, token: i, isValid: true },
  { ...documented, token: i, isValid: true },
  after(10),
  { ...exposed, token: i, isValid: true },
  { ...documented, token: i, isValid: true }
])

const around = (id: string, claim: string, reading: Case["reading"]): Case => ({
  id,
  claim,
  title: "two people before and after midnight, full hours and the ends of months",
  steps: aroundMoments,
  reading
})

const searched = (id: string, title: string, steps: ReadonlyArray<Step>): Case => ({
  id: `aml.searched-on.${id}`,
  claim: "aml.answer.searched-on.time",
  title,
  steps,
  reading: "time of search"
})

export const cases: ReadonlyArray<Case> = [
  lifetime("", "a token 5 seconds before and 2 seconds after its hour ends", [
    token,
    after(hour - before),
    valid(),
    after(before + behind),
    ended()
  ]),
  {
    id: "token.expired",
    claim: "token.expired",
    title: "the refusal of a token after 61 minutes",
    steps: [token, after(61 * minute), { ...check(), token: 0 }],
    reading: "expiry"
  },
  lifetime(".used", "whether a use extends the lifetime of a token", [
    token,
    after(30 * minute),
    valid(),
    after(30 * minute - before),
    valid(),
    after(before + behind),
    ended()
  ]),
  lifetime(".used-often", "a token that is used every five minutes", [
    token,
    ...Array.from({ length: 11 }, () => [after(5 * minute), valid()]).flat(),
    after(5 * minute - before),
    valid(),
    after(before + behind),
    ended()
  ]),
  lifetime(".unused", "a token that is first used after its hour", [token, after(hour + behind), ended()]),
  lifetime(".minutes", "a token after 1, 5, 15, 29, 31, 45 and 55 minutes", [
    token,
    after(minute),
    valid(),
    after(4 * minute),
    valid(),
    after(10 * minute),
    valid(),
    after(14 * minute),
    valid(),
    after(2 * minute),
    valid(),
    after(14 * minute),
    valid(),
    after(10 * minute),
    valid()
  ]),
  lifetime(".long-after", "a token 61 minutes, 2, 12, 24, 25 and 49 hours after its request", [
    token,
    after(61 * minute),
    ended(),
    after(59 * minute),
    ended(),
    after(10 * hour),
    ended(),
    after(12 * hour),
    ended(),
    after(hour),
    ended(),
    after(24 * hour),
    ended()
  ]),
  lifetime(".ended-twice", "an ended token three times in a row", [
    token,
    after(hour + behind),
    ended(),
    ended(),
    ended()
  ]),
  lifetime(".refused-use", "whether a refused check extends or ends the lifetime of a token", [
    token,
    after(30 * minute),
    { ...check({ body: "{" }), token: 0 },
    after(30 * minute - before),
    valid(),
    after(before + behind),
    ended()
  ]),
  lifetime(".second", "a second token, 30 minutes after the first", [
    token,
    after(30 * minute),
    token,
    valid(0),
    valid(1),
    after(30 * minute - before),
    valid(0),
    valid(1),
    after(before + behind),
    ended(0),
    valid(1),
    after(30 * minute - before - behind),
    valid(1),
    after(before + behind),
    ended(1),
    ended(0)
  ]),
  lifetime(".late-second", "a second token, a minute before the first one ends", [
    token,
    after(59 * minute),
    token,
    after(2 * minute),
    ended(0),
    valid(1),
    after(57 * minute),
    valid(1),
    after(2 * minute),
    ended(1)
  ]),
  lifetime(".after-end", "a second token after the first has ended", [
    token,
    after(2 * hour),
    token,
    ended(0),
    valid(1),
    after(hour - before),
    valid(1),
    after(before + behind),
    ended(1),
    ended(0)
  ]),
  lifetime(".third", "three tokens, 20 minutes apart", [
    token,
    after(20 * minute),
    token,
    after(20 * minute),
    token,
    after(20 * minute - before),
    valid(0),
    valid(1),
    valid(2),
    after(before + behind),
    ended(0),
    valid(1),
    valid(2),
    after(20 * minute),
    ended(1),
    valid(2),
    after(20 * minute),
    ended(2)
  ]),
  lifetime(".refused-request", "whether a refused token request changes the lifetime of a token", [
    token,
    after(40 * minute),
    { to: "token", body: "grant_type=password" },
    { to: "token", authorization: null },
    after(20 * minute - before),
    valid(),
    after(before + behind),
    ended()
  ]),
  lifetime(".together", "two tokens that were requested at the same time, at the end of their hour", [
    { to: "together", steps: [token, token] },
    after(hour - before),
    valid(0),
    valid(1),
    after(before + behind),
    ended(0),
    ended(1)
  ]),
  lifetime(".listed", "an ended token, and a listed person", [
    token,
    { ...exposed, isValid: true },
    after(hour + behind),
    { ...exposed, isValid: false }
  ]),
  lifetime(".ended-changed", "an ended token at the end of a day of checks", [
    token,
    valid(),
    after(90 * minute),
    ended(),
    after(7 * 24 * hour),
    ended()
  ]),
  lifetime(
    ".day",
    "twelve tokens in a day, each 47 minutes after the last ended",
    Array.from({ length: 12 }, (_, i) => [
      token,
      after(hour - before),
      valid(i),
      after(before + behind),
      ended(i),
      after(47 * minute)
    ]).flat()
  ),
  lifetime(
    ".days",
    "a token on each day of a week",
    Array.from({ length: 7 }, (_, i) => [
      after(23 * hour),
      token,
      after(hour - before),
      valid(i),
      after(before + behind),
      ended(i)
    ]).flat()
  ),

  searched("moved", "searched_on after 13 hours, 17 minutes and 23 seconds", [
    token,
    { ...documented, token: 0 },
    after(13 * hour + 17 * minute + 23),
    token,
    { ...documented, token: 1 }
  ]),
  searched("seconds", "searched_on after 11 seconds, and after 37 more", [
    token,
    { ...documented, token: 0 },
    after(11),
    { ...documented, token: 0 },
    after(37),
    { ...documented, token: 0 }
  ]),
  searched("months", "searched_on on nine days of three months", later),
  around("aml.searched-on.around", "aml.answer.searched-on.time", "time of search"),
  around("aml.around", "aml.answer.every", "every field"),
  around("aml.around.answered", "aml.request.people", "every answer"),
  around("aml.around.again", "aml.match.again", "same result"),
  around("token.lifetime.moments", "token.lifetime", "lifetime"),
  {
    id: "aml.later",
    claim: "aml.answer.every",
    title: "every field of checks on nine days of three months",
    steps: later,
    reading: "every field"
  },
  {
    id: "aml.later.result",
    claim: "aml.match.subjects",
    title: "the result of a listed person three months later",
    steps: later,
    reading: "test person"
  },
  {
    id: "aml.later.again",
    claim: "aml.match.later",
    title: "the result of a listed person on nine days of three months",
    steps: later,
    reading: "repeated check"
  }
]
