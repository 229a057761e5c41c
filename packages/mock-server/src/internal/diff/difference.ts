/** Compares two recordings of the same traffic by the variants of each behaviour, and never by bytes. */
import * as Profile from "../../Profile.ts"
import type { Recording } from "../record/observations.ts"

export interface Difference {
  readonly name: Profile.Name
  readonly claim: string
  readonly upstream: string
  readonly mock: string
}

export interface Comparison {
  readonly differences: ReadonlyArray<Difference>
  /** The behaviours that both showed. */
  readonly compared: number
  /** The behaviours that only one of them showed. */
  readonly notCompared: ReadonlyArray<Profile.Name>
}

export const compare = (upstream: Recording, mock: Recording): Comparison => {
  const [ofUpstream, ofMock] = [upstream.profile(), mock.profile()]
  const both = Profile.points.flatMap(({ claim, name }) => {
    const [upstream, mock] = [ofUpstream[name], ofMock[name]]
    return upstream === undefined || mock === undefined ? [] : [{ name, claim, upstream, mock }]
  })
  return {
    differences: both.filter(({ mock, upstream }) => mock !== upstream),
    compared: both.length,
    notCompared: Profile.points.map(({ name }) => name).filter((name) =>
      (ofUpstream[name] === undefined) !== (ofMock[name] === undefined)
    )
  }
}
