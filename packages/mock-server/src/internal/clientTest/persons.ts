/** Fictional persons. Each has a last name of its own, so that a test finds it in every text. */
import type { Person } from "./day.ts"

const firstNames = ["Mira", "Jonas", "Lena", "Tomas", "Ines", "Pavel", "Greta"]

const syllables = ["va", "lo", "ri", "mu", "ke", "do", "si", "ta", "ne", "pu", "go", "ha", "zi", "be", "fo", "la"]

const pad = (value: number) => String(value).padStart(2, "0")

/** The person with a number from 0 to 4095. Days after the 12th show whether day and month are in the right order. */
export const person = (number: number): Person => ({
  name: `${firstNames[number % firstNames.length]} Qu${
    [number, number >> 4, number >> 8].map((digit) => syllables[digit % syllables.length]).join("")
  }`,
  dateOfBirth: `${1941 + (number % 47)}-${pad(1 + (number % 12))}-${pad(13 + (number % 15))}`
})

/** A name or a date in the form in which texts are compared. */
export const comparable = (text: string) => text.normalize("NFC").replaceAll(/\s+/g, " ").trim()

/** Whether the date of birth exists. */
export const isPossible = ({ dateOfBirth }: Person): boolean => {
  const time = Date.parse(dateOfBirth)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(dateOfBirth)
}
