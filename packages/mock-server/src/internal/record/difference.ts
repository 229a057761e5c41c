/** Compares what the conformance suite observed of a service and of the mock server, case by case. */
import type * as Conformance from "@effect-idv/contract/Conformance"
import type * as Contract from "@effect-idv/contract/Contract"
import * as Option from "effect/Option"
import * as Profile from "../../Profile.ts"
import type { Unplayable } from "./observations.ts"
import * as Readings from "./readings.ts"

export interface Difference {
  /** The option of the profile, if there is one, and the claim. */
  readonly name: string
  readonly service: string
  readonly mock: string
  /** The sentence of the service document that the service contradicts. */
  readonly sentence?: string
}

export interface Comparison {
  /** What the service contradicts, and the behaviours of a profile that differ. */
  readonly differences: ReadonlyArray<Difference>
  /** The behaviours that only the mock server showed. */
  readonly onlyMock: ReadonlyArray<string>
  /** Differences that the recorded profile states already, because no profile plays them. */
  readonly recorded: ReadonlyArray<Difference>
  /** Differences where the document is silent and the mock server has one behaviour only. */
  readonly others: ReadonlyArray<Difference>
  /** How many behaviours were compared. */
  readonly compared: number
  /** The options of the profile that no compared case showed. */
  readonly notCompared: ReadonlyArray<string>
}

/** The claims without a profile option that are compared like one, because no profile plays another variant. */
const withoutOption: ReadonlyArray<string> = ["aml.match.everybody", "aml.match.again", "aml.issued-by.text"]

type Words = ReadonlyMap<string, Conformance.Result & { readonly observed: string }>

const wordsOf = ({ results }: Conformance.Report): Words =>
  new Map(results.flatMap((result) => {
    const { id, observed, verdict } = result
    return verdict === "not tested" || observed === undefined ? [] : [[id, { ...result, observed }] as const]
  }))

const ofClaim = (
  { id, level, mock, sentence }: Contract.Claim,
  service: Words,
  mockServer: Words,
  failed: ReadonlySet<string>,
  recorded: Unplayable
): Comparison => {
  const option = Profile.points.find(({ claim, name }) => claim === id && name === mock?.option)?.name
  const isCompared = level === "documented" || option !== undefined || withoutOption.includes(id)
  const name = option === undefined ? id : `${option} (${id})`
  /** The words of a profile that plays a word only nearly. */
  const played = (word: string): string =>
    option === undefined
      ? word
      : Option.match(Readings.variantOf(option, word), { onNone: () => word, onSome: ({ variant }) => variant })
  const own = [...mockServer.values()].filter(({ claim }) => claim === id)
  const pairs = own.flatMap((ofMock) => {
    const ofService = service.get(ofMock.id)
    return ofService === undefined ? [] : [{ ofMock, ofService }]
  })
  const differing = pairs.filter(({ ofMock, ofService }) => played(ofService.observed) !== played(ofMock.observed))
  const toDifference = ({ ofMock, ofService }: typeof pairs[number]): Difference => ({
    name,
    service: ofService.observed,
    mock: ofMock.observed,
    ...(ofService.verdict === "violated" && sentence !== undefined && { sentence })
  })
  // One difference for each word of the service, not for each case that shows it.
  const byWord = (some: typeof pairs) => [
    ...new Map(some.map((pair) => [pair.ofService.observed, toDifference(pair)])).values()
  ]
  const isWrong = ({ ofService }: typeof pairs[number]) =>
    level === "documented" ? ofService.verdict === "violated" : isCompared
  const wrong = byWord(
    level === "documented" ? pairs.filter(isWrong) : differing.filter(isWrong)
  )
  const isRecorded = ({ sentence, service }: Difference) =>
    sentence === undefined && recorded[id]?.[service] !== undefined
  return {
    differences: wrong.filter((difference) => !isRecorded(difference)),
    recorded: wrong.filter(isRecorded),
    others: byWord(differing.filter((pair) => !isWrong(pair) && pair.ofService.verdict !== "pass")),
    onlyMock: isCompared && pairs.length === 0 && own.some(({ id }) => failed.has(id)) ? [name] : [],
    compared: isCompared && pairs.length > 0 ? 1 : 0,
    notCompared: isCompared && option !== undefined && pairs.length === 0 ? [option] : []
  }
}

/** The cases of a service that another case, or the end of its responses, kept from running. */
const failedCases = ({ results }: Conformance.Report): ReadonlySet<string> =>
  new Set(
    results.flatMap(({ dependsOn, id, verdict }) => verdict === "not tested" && dependsOn !== undefined ? [id] : [])
  )

export const compare = (
  { claims }: Contract.Contract,
  service: Conformance.Report,
  mockServer: Conformance.Report,
  recorded: Unplayable
): Comparison => {
  const words = [wordsOf(service), wordsOf(mockServer)] as const
  const failed = failedCases(service)
  const all = claims.map((claim) => ofClaim(claim, ...words, failed, recorded))
  return {
    differences: all.flatMap(({ differences }) => differences),
    onlyMock: all.flatMap(({ onlyMock }) => onlyMock),
    recorded: all.flatMap(({ recorded }) => recorded),
    others: all.flatMap(({ others }) => others),
    compared: all.reduce((sum, { compared }) => sum + compared, 0),
    notCompared: all.flatMap(({ notCompared }) => notCompared)
  }
}
