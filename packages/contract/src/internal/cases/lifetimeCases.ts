/** The hour of a token, and the time of a search, on a target whose clock can be moved. */
import type { Case } from "../model.ts"
import type { AmlStep, ClockStep, Step, TokenStep } from "../steps.ts"
import { check, noOtherListed, type Rows, sequences } from "./probes.ts"

const token: TokenStep = { to: "token" }

const second = 1
const minute = 60 * second
const hour = 60 * minute

/** How long after its end a token is used: a service may count whole seconds. The same before its end. */
const behind = 2 * second

const after = (advance: number): ClockStep => ({ to: "clock", advance })

/** The seconds of a text such as `1h2m30s`. */
const secondsOf = (text: string): number => {
  const [, hours = 0, minutes = 0, seconds = 0] = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?$/.exec(text) ?? []
  return Number(hours) * hour + Number(minutes) * minute + Number(seconds)
}

/**
 * The steps of a text: `token` requests one, `+59m58s` moves the clock, and `valid:1` or `ended:1` uses the second token,
 * which should still be accepted or not. Without a number it is the first one. `check` reads only what the response says.
 */
const timeline = (text: string): ReadonlyArray<Step> =>
  text.split(" ").map((word) => {
    if (word === "token") return token
    if (word.startsWith("+")) return after(secondsOf(word.slice(1)))
    const [use, index = "0"] = word.split(":")
    return check({ token: Number(index), ...(use !== "check" && { isValid: use === "valid" }) })
  })

const exposed: AmlStep = check({ person: "any listed", token: 0 })

const listed: AmlStep = check({ person: "listed" })

const documented: AmlStep = check()

/** A check on nine days in three months, each later in the day than the last. */
const later = (step: AmlStep): ReadonlyArray<Step> =>
  Array.from({ length: 9 }, (_, i) => [
    token,
    { ...step, token: i },
    after(11 * 24 * hour + 5 * hour + 7 * minute + 13)
  ]).flat()

/**
 * Times at which a text of a time, a token or a list may change: midnight, a full hour, hours, days and months of one
 * digit, the ends of months and of two years, of which at most one is also the end of a week, and the birthdays of the
 * test people.
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
  "01-03T22:59:55",
  "12-31T23:59:55"
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
  [
    "a token 61 minutes, 2, 12, 24, 25 and 49 hours after its request",
    timeline("token +61m ended +59m ended +10h ended +12h ended +1h ended +24h ended")
  ],
  ["a token 5, 26 and 50 days after its request", timeline("token +120h ended +504h ended +576h ended")],
  ["an ended token at the end of a day of checks", timeline("token valid +90m ended +168h ended")]
]

export const cases: ReadonlyArray<Case> = [
  sequences("token.lifetime", "token.lifetime", "lifetime", [
    ["a token 2 seconds before and after the end of its hour", timeline("token +59m58s valid +4s ended")],
    ["a token that is first used after its hour", timeline("token +60m2s ended")]
  ], { worth: 2 }),
  sequences("token.expired", "token.expired", "expiry", [
    ["the refusal of a token after 61 minutes", timeline("token +61m check")]
  ], { worth: 2 }),
  sequences("token.lifetime.used", "token.lifetime", "lifetime", [
    ["whether a use extends the lifetime of a token", timeline("token +30m valid +29m58s valid +4s ended")],
    [
      "a token that is used every five minutes",
      timeline(`token ${"+5m valid ".repeat(11)}+4m58s valid +4s ended`)
    ],
    [
      "a token after 1, 5, 15, 29, 31, 45 and 55 minutes",
      timeline("token +1m valid +4m valid +10m valid +14m valid +2m valid +14m valid +10m valid")
    ],
    ["whether a refused check extends or ends the lifetime of a token", [
      ...timeline("token +30m"),
      { ...check({ body: "{" }), token: 0 },
      ...timeline("+29m58s valid +4s ended")
    ]],
    ["whether a refused token request changes the lifetime of a token", [
      ...timeline("token +40m"),
      { to: "token", body: "grant_type=password" },
      { to: "token", authorization: null },
      ...timeline("+19m58s valid +4s ended")
    ]]
  ]),
  sequences("token.lifetime.second", "token.lifetime", "lifetime", [
    [
      "a second token, 30 minutes after the first",
      timeline(
        "token +30m token valid valid:1 +29m58s valid valid:1 +4s ended valid:1 +29m56s valid:1 +4s ended:1 ended"
      )
    ],
    [
      "a second token, a minute before the first one ends",
      timeline("token +59m token +2m ended valid:1 +57m valid:1 +2m ended:1")
    ],
    [
      "a second token after the first has ended",
      timeline("token +2h token ended valid:1 +59m58s valid:1 +4s ended:1 ended")
    ],
    [
      "three tokens, 20 minutes apart",
      timeline(
        "token +20m token +20m token +19m58s valid valid:1 valid:2 +4s ended valid:1 valid:2 +20m ended:1 valid:2 " +
          "+20m ended:2"
      )
    ],
    ["two tokens that were requested at the same time, at the end of their hour", [
      { to: "together", steps: [token, token] },
      ...timeline("+59m58s valid valid:1 +4s ended ended:1")
    ]]
  ]),
  sequences("token.lifetime.long-after", "token.lifetime", "lifetime", longEnded),
  sequences("token.lifetime.ended", "token.lifetime", "lifetime", [
    ["an ended token three times in a row", timeline("token +60m2s ended ended ended")],
    ["an ended token, and another person", [
      token,
      { ...exposed, isValid: true },
      after(hour + behind),
      { ...exposed, isValid: false }
    ]],
    [
      "twelve tokens in a day, each 47 minutes after the last ended",
      Array.from({ length: 12 }, (_, i) => timeline(`token +59m58s valid:${i} +4s ended:${i} +47m`)).flat()
    ],
    [
      "a token on each day of a week",
      Array.from({ length: 7 }, (_, i) => timeline(`+23h token +59m58s valid:${i} +4s ended:${i}`)).flat()
    ]
  ]),

  sequences("aml.searched-on.moved", "aml.answer.searched-on.time", "time of search", [
    ["searched_on after 13 hours, 17 minutes and 23 seconds", timeline("token check +13h17m23s token check:1")],
    ["searched_on after 11 seconds, and after 37 more", timeline("token check +11s check +37s check")],
    ["searched_on on nine days of three months", later(exposed)]
  ]),
  around("aml.searched-on.around", "aml.answer.searched-on.time", "time of search"),
  around("aml.around", "aml.answer.every", "every field"),
  around("aml.around.answered", "aml.request.people", "every answer"),
  around("aml.around.again", "aml.match.again", "same result"),
  around("token.lifetime.moments", "token.lifetime", "lifetime"),
  sequences("aml.later", "aml.answer.every", "every field", [
    ["every field of checks on nine days of three months", later(exposed)]
  ]),
  sequences("aml.later.result", "aml.match.subjects", "promised result", [
    ["the result of a listed person on nine days of three months", later(listed)]
  ], { notOnSandbox: noOtherListed }),
  sequences("aml.later.again", "aml.match.later", "repeated check", [
    ["the result of a listed person on nine days of three months", later(listed)]
  ])
]
