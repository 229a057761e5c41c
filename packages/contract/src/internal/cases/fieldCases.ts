/** Checks with a wrong entity_type, name or dob (section 4.2). */
import type { Case } from "../model.ts"
import { extraField, misnamedField, wrongField } from "./probes.ts"

export const isoDate = wrongField("dob.iso", "aml.request.dob", "dob", [
  ["a dob with the year first", "{year}-{month}-{day}"],
  ["a dob as an ISO time", "{year}-{month}-{day}T00:00:00Z"],
  ["a dob with the year first and slashes", "{year}/{month}/{day}"],
  ["a dob with the year first and dots", "{year}.{month}.{day}"],
  ["a dob with the year first and no separators", "{year}{month}{day}"],
  ["a dob with the year first and without zeros", "{year}-{month|short}-{day|short}"],
  ["a dob with year, day and month", "1990-28-02"],
  ["a dob with the year first and the name of the month", "1990-Feb-01"],
  ["a dob as an ISO week", "1990-W05-4"],
  ["a dob as an ISO day of the year", "1990-032"]
], { worth: 5 })

export const cases: ReadonlyArray<Case> = [
  wrongField("entity-type.other", "aml.request.entity-type", "entity_type", [
    ["entity_type company", "company"],
    ["entity_type organisation", "organisation"],
    ["entity_type organization", "organization"],
    ["entity_type business", "business"],
    ["entity_type vessel", "vessel"],
    ["a word that is not an entity type", "anything"]
  ], { worth: 5 }),
  wrongField("entity-type.similar", "aml.request.entity-type", "entity_type", [
    ["entity_type individual", "individual"],
    ["entity_type natural_person", "natural_person"],
    ["entity_type persons", "persons"],
    ["entity_type people", "people"]
  ], { worth: 3 }),
  wrongField("entity-type.case", "aml.request.entity-type", "entity_type", [
    ["entity_type Person", "Person"],
    ["entity_type PERSON", "PERSON"]
  ], { worth: 4 }),
  wrongField("entity-type.blank", "aml.request.entity-type", "entity_type", [
    ["entity_type with a line feed", "person\n"],
    ["entity_type with a blank after it", "person "],
    ["entity_type with a blank before it", " person"]
  ], { worth: 3 }),
  wrongField("entity-type.part", "aml.request.entity-type", "entity_type", [
    ["entity_type personal", "personal"],
    ["entity_type pers", "pers"],
    ["entity_type p", "p"]
  ]),
  wrongField("entity-type.json", "aml.request.entity-type", "entity_type", [
    ["a list as entity_type", ["person"]],
    ["null as entity_type", null],
    ["a list with another word as entity_type", ["person", "company"]],
    ["an object as entity_type", { type: "person" }],
    ["true as entity_type", true],
    ["a number as entity_type", 1]
  ], { worth: 2 }),
  misnamedField("entity-type.missing", "aml.request.entity-type", [
    ["no entity_type, but its value under other names", {
      entity_type: undefined,
      entityType: "person",
      ENTITY_TYPE: "person",
      "entity-type": "person",
      type: "person"
    }],
    ["no entity_type", { entity_type: undefined }],
    ["an empty entity_type", { entity_type: "" }],
    ["entityType instead of entity_type", { entity_type: undefined, entityType: "person" }]
  ], { worth: 4, ...extraField }),

  misnamedField("name.missing", "aml.request.name", [
    ["no name, but its value under other names", {
      name: undefined,
      Name: "{name}",
      NAME: "{name}",
      full_name: "{name}",
      fullName: "{name}",
      first_name: "{name}",
      last_name: "{name}"
    }],
    ["no name", { name: undefined }],
    ["full_name instead of name", { name: undefined, full_name: "{name}" }],
    ["first_name and last_name instead of name", { name: undefined, first_name: "{name}", last_name: "{name}" }],
    ["Name instead of name", { name: undefined, Name: "{name}" }]
  ], { worth: 4, ...extraField }),
  wrongField("name.json", "aml.request.name", "name", [
    ["a number as name", 1],
    ["a list as name", ["{name}"]],
    ["null as name", null],
    ["an object as name", { first: "{name}", last: "{name}" }],
    ["true as name", true],
    ["false as name", false],
    ["0 as name", 0],
    ["an empty list as name", []],
    ["an empty object as name", {}]
  ], { worth: 4 }),
  wrongField("name.empty", "aml.request.name.empty", "name", [
    ["an empty name", ""],
    ["a blank as name", " "],
    ["a tab as name", "\t"],
    ["a no-break space as name", "\u00a0"],
    ["a line feed as name", "\n"]
  ]),
  wrongField("name.damaged", "aml.request.name.damaged", "name", [
    ["a zero-width space as name", "\u200b"],
    ["digits as name", "123"],
    ["a name with a NUL", "{name}\u0000"],
    ["a name with a line feed", "{name}\n{name}"],
    ["a name of 300 characters", "Ada ".repeat(75)]
  ]),

  isoDate,
  wrongField("dob.slashes", "aml.request.dob", "dob", [
    ["a dob with slashes", "{day}/{month}/{year}"],
    ["a dob with dots", "{day}.{month}.{year}"],
    ["a dob with blanks", "{day} {month} {year}"],
    ["a dob with underscores", "{day}_{month}_{year}"],
    ["a dob with colons", "{day}:{month}:{year}"],
    ["a dob with commas", "{day},{month},{year}"],
    ["a dob with two separators", "{day}-{month}/{year}"],
    ["a dob with backslashes", "{day}\\{month}\\{year}"]
  ], { worth: 4 }),
  wrongField("dob.hyphens", "aml.request.dob", "dob", [
    ["a dob with en dashes", "{day}–{month}–{year}"],
    ["a dob with minus signs", "{day}−{month}−{year}"],
    ["a dob with Unicode hyphens", "{day}\u2010{month}\u2010{year}"],
    ["a dob with non-breaking hyphens", "{day}\u2011{month}\u2011{year}"],
    ["a dob with double hyphens", "{day}--{month}--{year}"],
    ["a dob with blanks around its hyphens", "{day} - {month} - {year}"]
  ]),
  wrongField("dob.us", "aml.request.dob", "dob", [
    ["a dob with the month first", "02-28-1990"],
    ["a dob with the month first and slashes", "02/28/1990"],
    ["a dob with slashes after the 12th", "28/02/1990"]
  ], { worth: 4 }),
  wrongField("dob.compact", "aml.request.dob", "dob", [
    ["a dob without separators", "{day}{month}{year}"],
    ["a dob without its second hyphen", "{day}-{month}{year}"],
    ["a dob without its first hyphen", "{day}{month}-{year}"]
  ], { worth: 3 }),
  wrongField("dob.short", "aml.request.dob", "dob", [
    ["a dob without zeros", "1-2-1990"],
    ["a dob with a day of one digit", "{day|short}-{month}-{year}"],
    ["a dob with a month of one digit", "{day}-{month|short}-{year}"],
    ["a dob with one digit for day and month and two for the year", "1-2-90"],
    ["a dob with a day of three digits", "0{day}-{month}-{year}"],
    ["a dob with a month of three digits", "{day}-0{month}-{year}"]
  ], { worth: 4 }),
  wrongField("dob.two-digits", "aml.request.dob", "dob", [
    ["a dob with a year of two digits", "{day}-{month}-{year|twoDigits}"],
    ["a dob with an apostrophe before two digits", "{day}-{month}-'{year|twoDigits}"],
    ["a dob with slashes and a year of two digits", "{day}/{month}/{year|twoDigits}"],
    ["a dob with a year of two digits first", "{year|twoDigits}-{month}-{day}"],
    ["a dob with a year of three digits", "01-02-990"],
    ["a dob with a year of five digits", "{day}-{month}-0{year}"],
    ["a dob with a sign before the year", "{day}-{month}-+{year}"],
    ["a dob with a negative year", "01-02--990"]
  ], { worth: 4 }),
  wrongField("dob.month-name", "aml.request.dob", "dob", [
    ["a dob with the name of a month", "01-Feb-1990"],
    ["a dob with FEB", "01-FEB-1990"],
    ["a dob with the full name of the month", "01-February-1990"],
    ["a dob with a month in words", "1 February 1990"],
    ["a dob in English with a comma", "February 1, 1990"],
    ["a dob with the name of the month first", "Feb-01-1990"],
    ["a dob with a Roman month", "01-II-1990"]
  ], { worth: 3 }),
  wrongField("dob.suffix", "aml.request.dob", "dob", [
    ["a dob with a time", "{dob} 00:00:00"],
    ["a dob with T and a time", "{dob}T00:00:00"],
    ["a dob with a letter after it", "{dob}x"],
    ["a dob with hours and minutes", "{dob} 00:00"],
    ["a dob with a Z", "{dob}Z"],
    ["a dob with an offset", "{dob}+01:00"],
    ["a dob with a hyphen after it", "{dob}-"],
    ["a dob with another field", "{dob}-1"],
    ["a dob with a second line", "{dob}\n{dob}"],
    ["two dates", "{dob}/{dob}"],
    ["two dates with a comma", "{dob},{dob}"]
  ], { worth: 4 }),
  wrongField("dob.prefix", "aml.request.dob", "dob", [
    ["a dob with a letter before it", "x{dob}"],
    ["a dob with a sign", "+{dob}"],
    ["a dob with a hyphen before it", "-{dob}"],
    ["a dob after an empty line", "\n{dob}"],
    ["a dob in quotes", "\"{dob}\""]
  ], { worth: 2 }),
  wrongField("dob.blank", "aml.request.dob", "dob", [
    ["a dob with a line feed", "{dob}\n"],
    ["a dob with a blank after it", "{dob} "],
    ["a dob with a blank before it", " {dob}"],
    ["a dob with a tab after it", "{dob}\t"],
    ["a dob with a carriage return and a line feed", "{dob}\r\n"],
    ["a dob with a NUL after it", "{dob}\u0000"],
    ["a dob with a no-break space after it", "{dob}\u00a0"],
    ["a dob with a zero-width space after it", "{dob}\u200b"]
  ], { worth: 3 }),
  wrongField("dob.digits", "aml.request.dob", "dob", [
    ["a dob with Arabic digits", "٠١-٠٢-١٩٩٠"],
    ["a dob with full-width digits", "０１-０２-１９９０"],
    ["a dob with Devanagari digits", "०१-०२-१९९०"],
    ["a dob with letters for zeros", "O1-O2-199O"]
  ], { worth: 2 }),
  wrongField("dob.number", "aml.request.dob", "dob", [
    ["a number as dob", 1021990],
    ["milliseconds as dob", 633830400000],
    ["a number with the year first as dob", 19900201],
    ["seconds as dob in a string", "633830400"],
    ["0 as dob", 0],
    ["a negative number as dob", -1],
    ["a fraction as dob", 1.021990]
  ]),
  wrongField("dob.json", "aml.request.dob", "dob", [
    ["null as dob", null],
    ["a list with the dob", ["{dob}"]],
    ["an object as dob", { day: 1, month: 2, year: 1990 }],
    ["a list of day, month and year", [1, 2, 1990]],
    ["a list of texts as dob", ["{day}", "{month}", "{year}"]],
    ["the dob inside an object", { date: "{dob}" }],
    ["true as dob", true],
    ["false as dob", false],
    ["an empty list as dob", []],
    ["an empty object as dob", {}]
  ], { worth: 3 }),
  misnamedField("dob.missing", "aml.request.dob", [
    ["no dob, but its value under other names", {
      dob: undefined,
      DOB: "{dob}",
      Dob: "{dob}",
      date_of_birth: "{dob}",
      dateOfBirth: "{dob}",
      birth_date: "{dob}",
      birthDate: "{dob}",
      birth_year: "{year}"
    }],
    ["no dob", { dob: undefined }],
    ["date_of_birth instead of dob", { dob: undefined, date_of_birth: "{dob}" }],
    ["dateOfBirth instead of dob", { dob: undefined, dateOfBirth: "{dob}" }],
    ["birth_year instead of dob", { dob: undefined, birth_year: "{year}" }],
    ["DOB instead of dob", { dob: undefined, DOB: "{dob}" }]
  ], { worth: 4, ...extraField }),
  wrongField("dob.text", "aml.request.dob", "dob", [
    ["an empty dob", ""],
    ["a blank as dob", " "],
    ["a word as dob", "unknown"],
    ["letters as dob", "dd-mm-yyyy"],
    ["a dob with letters for day and month", "xx-xx-1990"],
    ["a dob with an unknown day", "??-02-1990"]
  ], { worth: 2 }),
  wrongField("dob.year", "aml.request.dob", "dob", [
    ["a year as dob", "{year}"],
    ["a month and a year as dob", "{month}-{year}"],
    ["a day and a month as dob", "{day}-{month}"]
  ], { worth: 2 }),
  wrongField("dob.impossible", "aml.request.dob", "dob", [
    ["the day 32", "32-01-1990"],
    ["the month 13", "01-13-1990"],
    ["the day 00", "00-02-1990"],
    ["the month 00", "01-00-1990"],
    ["the day and month 00", "00-00-1990"],
    ["the day and the month 99", "99-99-1990"],
    ["a dob of zeros", "00-00-0000"]
  ], { worth: 4 }),
  wrongField("dob.day", "aml.request.dob.day", "dob", [
    ["the 31st of February", "31-02-1990"],
    ["the 30th of February", "30-02-1990"],
    ["the 31st of April", "31-04-1990"],
    ["the 29th of February of a year without one", "29-02-1990"],
    ["the 29th of February 1900", "29-02-1900"],
    ["the 29th of February 2023", "29-02-2023"],
    ["the 31st of June", "31-06-1990"],
    ["the 31st of September", "31-09-1990"],
    ["the 31st of November", "31-11-1990"],
    ["the year 0000", "01-02-0000"],
    ["a dob in the next century", "01-02-2150"],
    ["a dob in the year 9999", "31-12-9999"]
  ])
]
