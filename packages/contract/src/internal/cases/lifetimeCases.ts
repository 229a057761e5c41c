/** The hour of a token, and the time of a search, on a target whose clock can be moved. */
import type { Case } from "../model.ts"
import type { AmlStep, ClockStep, Step, TokenStep } from "../steps.ts"
import { check, type Rows, sequences } from "./probes.ts"

const token: TokenStep = { to: "token" }

const second = 1
const minute = 60 * second
const hour = 60 * minute

/** How long before and after its end a token is used: a service may count whole seconds. */
const before = 2 * second
const behind = 2 * second

const after = (advance: number): ClockStep => ({ to: "clock", advance })

const valid = (index = 0): AmlStep => check({ token: index, isValid: true })

const ended = (index = 0): AmlStep => check({ token: index, isValid: false })

const exposed: AmlStep = check({ person: "listed", token: 0 })

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

const around = (id: string, claim: string, reading: Case["reading"]): Case =>
  sequences(id, claim, reading, [[
    "two people before and after midnight, full hours and the ends of months",
    aroundMoments
  ]])

/** A token that ended weeks ago, as a service may forget when. */
const longEnded: Rows<ReadonlyArray<Step>> = [
  ["a token 61 minutes, 2, 12, 24, 25 and 49 hours after its request", [
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
  ]],
  ["a token 5, 26 and 50 days after its request", [
    token,
    after(5 * 24 * hour),
    ended(),
    after(21 * 24 * hour),
    ended(),
    after(24 * 24 * hour),
    ended()
  ]],
  ["an ended token at the end of a day of checks", [
    token,
    valid(),
    after(90 * minute),
    ended(),
    after(7 * 24 * hour),
    ended()
  ]]
]

export const cases: ReadonlyArray<Case> = [
  sequences("token.lifetime", "token.lifetime", "lifetime", [
    ["a token 2 seconds before and after the end of its hour", [
      token,
      after(hour - before),
      valid(),
      after(before + behind),
      ended()
    ]],
    ["a token that is first used after its hour", [token, after(hour + behind), ended()]]
  ], { worth: 2 }),
  sequences("token.expired", "token.expired", "expiry", [
    ["the refusal of a token after 61 minutes", [token, after(61 * minute), check({ token: 0 })]]
  ], { worth: 2 }),
  sequences("token.lifetime.used", "token.lifetime", "lifetime", [
    ["whether a use extends the lifetime of a token", [
      token,
      after(30 * minute),
      valid(),
      after(30 * minute - before),
      valid(),
      after(before + behind),
      ended()
    ]],
    ["a token that is used every five minutes", [
      token,
      ...Array.from({ length: 11 }, () => [after(5 * minute), valid()]).flat(),
      after(5 * minute - before),
      valid(),
      after(before + behind),
      ended()
    ]],
    ["a token after 1, 5, 15, 29, 31, 45 and 55 minutes", [
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
    ]],
    ["whether a refused check extends or ends the lifetime of a token", [
      token,
      after(30 * minute),
      { ...check({ body: "{" }), token: 0 },
      after(30 * minute - before),
      valid(),
      after(before + behind),
      ended()
    ]],
    ["whether a refused token request changes the lifetime of a token", [
      token,
      after(40 * minute),
      { to: "token", body: "grant_type=password" },
      { to: "token", authorization: null },
      after(20 * minute - before),
      valid(),
      after(before + behind),
      ended()
    ]]
  ]),
  sequences("token.lifetime.second", "token.lifetime", "lifetime", [
    ["a second token, 30 minutes after the first", [
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
    ]],
    ["a second token, a minute before the first one ends", [
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
    ]],
    ["a second token after the first has ended", [
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
    ]],
    ["three tokens, 20 minutes apart", [
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
    ]],
    ["two tokens that were requested at the same time, at the end of their hour", [
      { to: "together", steps: [token, token] },
      after(hour - before),
      valid(0),
      valid(1),
      after(before + behind),
      ended(0),
      ended(1)
    ]]
  ]),
  sequences("token.lifetime.long-after", "token.lifetime", "lifetime", longEnded),
  sequences("token.lifetime.ended", "token.lifetime", "lifetime", [
    ["an ended token three times in a row", [
      token,
      after(hour + behind),
      ended(),
      ended(),
      ended()
    ]],
    ["an ended token, and a listed person", [
      token,
      { ...exposed, isValid: true },
      after(hour + behind),
      { ...exposed, isValid: false }
    ]],
    [
      "twelve tokens in a day, each 47 minutes after the last ended",
      Array.from({ length: 12 }, (_, i) => [
        token,
        after(hour - before),
        valid(i),
        after(before + behind),
        ended(i),
        after(47 * minute)
      ]).flat()
    ],
    [
      "a token on each day of a week",
      Array.from({ length: 7 }, (_, i) => [
        after(23 * hour),
        token,
        after(hour - before),
        valid(i),
        after(before + behind),
        ended(i)
      ]).flat()
    ]
  ]),

  sequences("aml.searched-on.moved", "aml.answer.searched-on.time", "time of search", [
    ["searched_on after 13 hours, 17 minutes and 23 seconds", [
      token,
      { ...documented, token: 0 },
      after(13 * hour + 17 * minute + 23),
      token,
      { ...documented, token: 1 }
    ]],
    ["searched_on after 11 seconds, and after 37 more", [
      token,
      { ...documented, token: 0 },
      after(11),
      { ...documented, token: 0 },
      after(37),
      { ...documented, token: 0 }
    ]],
    ["searched_on on nine days of three months", later]
  ]),
  around("aml.searched-on.around", "aml.answer.searched-on.time", "time of search"),
  around("aml.around", "aml.answer.every", "every field"),
  around("aml.around.answered", "aml.request.people", "every answer"),
  around("aml.around.again", "aml.match.again", "same result"),
  around("token.lifetime.moments", "token.lifetime", "lifetime"),
  sequences("aml.later", "aml.answer.every", "every field", [
    ["every field of checks on nine days of three months", later]
  ]),
  sequences("aml.later.result", "aml.match.subjects", "promised result", [
    ["the result of a listed person on nine days of three months", later]
  ], { notOnSandbox: "only the mock server decides by the last word of a name" }),
  sequences("aml.later.again", "aml.match.later", "repeated check", [
    ["the result of a listed person on nine days of three months", later]
  ])
]
