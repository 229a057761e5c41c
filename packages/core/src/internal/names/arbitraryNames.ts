/** Realistic names in many scripts, and dates of birth, for `Arbitrary`. None belongs to a known person. */
import type * as Arbitrary from "effect/Arbitrary"

/** Given names, family names, the separator between them, and whether the family name comes first. */
const languages: ReadonlyArray<readonly [given: string, family: string, separator?: string, isFamilyFirst?: boolean]> =
  [
    ["Emma Oliver Grace Jack Mary-Kate T.J.", "Smith O’Connor Fitz-Gerald MacLeod 3rd-Baron Jones"],
    ["Zoë Jürgen Åsa Björk Søren Þóra", "Müller Groß Østergård Jónsdóttir Sæther Weiß"],
    ["José María Conceição João Íñigo", "García-Núñez Araújo Peña dos-Santos D’Ávila"],
    ["Łukasz Zsófia Tomáš Željko Ștefan", "Wójcik Nagy Dvořák Đorđević Țurcanu"],
    ["Işıl İbrahim Çağla", "Yıldız Öztürk Şahin"],
    ["Thị Văn Ngọc", "Nguyễn Trần Phạm", " ", true],
    ["Oluwáṣeun Adébáyọ̀ Ngũgĩ", "Ọlátúnjí Ṣóyínká Mwangi"],
    ["Kamaʻāina Leilani Aroha", "Kealoha Māhoe Tūhoe"],
    ["Иван Наталія Ђорђе", "Петров Шевченко Ћирић"],
    ["Γιώργος Ελένη", "Παπαδόπουλος Βασιλείου"],
    ["Հայկ Անահիտ", "Պետրոսյան Սարգսյան"],
    ["გიორგი ნინო", "ბერიძე კაპანაძე"],
    ["محمد فاطمة عبد‌الله", "الأحمد حسن خان"],
    ["דוד רחל", "כהן בן־דוד"],
    ["राम लक्ष्मी श्रीमति", "शर्मा क्षत्रिय"],
    ["রহিম সুমাইয়া", "চৌধুরী খাতুন"],
    ["முருகன் லட்சுமி", "சுப்பிரமணியம்"],
    ["ශ්‍රී නිමල්", "පෙරේරා ප්‍රනාන්දු"],
    ["สมชาย กานดา", "ใจดี ศรีสุข"],
    ["ሰላም አበበ", "ተስፋዬ ወልደ"],
    ["伟 秀英 𠮷", "王 欧阳 李", "", true],
    ["太郎 さくら", "山田 佐々木", " ", true],
    ["민준 서연", "김 남궁", "", true],
    ["Sukarno Suharti Ö E", ""]
  ]

export const name: Arbitrary.LazyArbitrary<string> = (fc) =>
  fc.constantFrom(...languages).chain(([given, family, separator = " ", isFamilyFirst = false]) =>
    fc.tuple(fc.constantFrom(...given.split(" ")), fc.constantFrom(...family.split(" "))).map((names) =>
      (isFamilyFirst ? names.reverse() : names).filter((name) => name !== "").join(separator).normalize("NFC")
    )
  )

/** The dates of birth of living people, mostly adults, as `dd-mm-yyyy`. */
export const dateOfBirth: Arbitrary.LazyArbitrary<string> = (fc) => {
  const between = (weight: number, first: number, last: number) => ({
    weight,
    arbitrary: fc.date({ min: new Date(`${first}-01-01`), max: new Date(`${last}-12-31`) })
  })
  return fc.oneof(between(8, 1940, 2008), between(1, 1920, 1939), between(1, 2009, 2024)).map((date) =>
    date.toISOString().slice(0, 10).split("-").reverse().join("-")
  )
}
