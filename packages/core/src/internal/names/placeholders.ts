/** Recognizes texts that replace an unknown name, such as "N/A". */
import { removeMarks } from "./nameFolding.ts"

/** Phrases by language, separated by `|`. */
const phrases: ReadonlyArray<string> = [
  // Databases and forms.
  "n/a|n.a.|n/d|n/k|n/r|n.n.|nn|s/n|s/d|nil|null|none|undefined|void|empty|blank|missing|unspecified|unnamed|object object",
  "tbc|tba|tbd|tbn|to be confirmed|to be advised|to be announced|to be determined|to be provided|to follow|pending",
  "-|--|---|xxx|xxxx|xxxxx",
  // Visas and registers: no first, last, middle or family name.
  "fnu|lnu|nfn|nln|nmn|nfnu|first name unknown|last name unknown|given name unknown|family name unknown",
  "no first name|no last name|no given name|no family name|no surname|no middle name|no name|no name given",
  // English.
  "unknown|unkown|unknow|unk|unknown name|name unknown|unknown person|unknown male|unknown female|unidentified|anonymous|nameless|who",
  "not known|not available|not applicable|not provided|not given|not stated|not specified|not supplied|not entered",
  "not recorded|not disclosed|not named|not yet named|not found|not identified|not yet known|no data|no value|no information|noname|withheld|undisclosed|redacted",
  "name|first name|last name|full name|given name|family name|surname|your name",
  // Spanish, Portuguese, Catalan, Galician.
  "desconocido|desconocida|nombre desconocido|sin nombre|sin datos|sin apellido|sin apellidos|no disponible|no aplica",
  "no consta|no informado|no especificado|no proporcionado|ninguno|ninguna|anónimo|anónima",
  "desconhecido|desconhecida|nome desconhecido|sem nome|sem dados|sem sobrenome|não informado|não disponível",
  "não aplicável|não se aplica|não consta|nenhum|nenhuma|anônimo|anônima|desconegut|sense nom|descoñecido",
  // French, Italian, Romanian.
  "inconnu|inconnue|nom inconnu|sans nom|sans prénom|non communiqué|non renseigné|non disponible|non applicable|non connu",
  "non précisé|aucun|aucune|néant|anonyme",
  "sconosciuto|sconosciuta|nome sconosciuto|ignoto|ignota|senza nome|non disponibile|non applicabile|non noto|non fornito",
  "nessuno|nessuna|nessun nome|anonimo|anonima|necunoscut|necunoscută|fără nume|nume necunoscut|nespecificat",
  // German, Dutch, Nordic languages, Finnish, Estonian, Latvian, Lithuanian.
  "unbekannt|name unbekannt|nicht bekannt|nicht verfügbar|nicht angegeben|nicht zutreffend|ohne namen|ohne name",
  "kein name|keine angabe|keine angaben|namenlos|anonym|entfällt",
  "onbekend|naam onbekend|niet bekend|niet beschikbaar|niet van toepassing|niet opgegeven|geen naam|zonder naam|n.v.t.|nvt",
  "okänd|namn okänt|inget namn|utan namn|saknas|ej angivet|ukjent|navn ukjent|uten navn|ikke oppgitt|ukendt|uden navn",
  "ikke oplyst|óþekkt|óþekktur|tuntematon|nimetön|ei tiedossa|ei nimeä|tundmatu|nimetu|nezināms|nezināma|nežinomas|nežinoma",
  // Slavic languages, Hungarian, Albanian, Greek.
  "nieznany|nieznana|nieznane|nieznane nazwisko|bez nazwiska|bez imienia|nie dotyczy|nie podano|brak|brak danych",
  "neznámý|neznámá|neznámé|neznámy|neznáma|beze jména|bez jména|bez mena|neuvedeno|neuvedené|neznano|neznan|brez imena",
  "nepoznat|nepoznata|nepoznato|bez imena|непознат|непозната|непознато|без име|неизвестен|неизвестна|неизвестно",
  "неизвестный|неизвестная|имя неизвестно|без имени|безымянный|безымянная|не указано|не указан|не указана|не известно",
  "нет данных|нет|отсутствует|аноним|невідомо|невідомий|невідома|без імені|не вказано|немає даних|невядомы|невядома",
  "ismeretlen|névtelen|nincs név|nincs megadva|i panjohur|e panjohur|pa emër|άγνωστο|άγνωστος|άγνωστη|χωρίς όνομα|ανώνυμος",
  // Turkish, Azerbaijani, Uzbek, Kazakh, Armenian, Georgian.
  "bilinmiyor|bilinmeyen|isimsiz|adsız|belirtilmemiş|belirtilmedi|yok|naməlum|məlum deyil|nomaʼlum|noma'lum|белгісіз",
  "անհայտ|უცნობი|უცნობია",
  // Arabic, Persian, Urdu, Hebrew.
  "غير معروف|غير معروفة|غير معلوم|غير متوفر|غير متاح|غير محدد|مجهول|مجهولة|مجهول الاسم|بدون اسم|بلا اسم|لا يوجد|لا ينطبق",
  "نامعلوم|نامشخص|ناشناس|ناشناخته|بی نام|بدون نام|ندارد|نا معلوم|نا مشخص|بے نام|לא ידוע|לא ידועה|ללא שם|אלמוני|אלמונית|אין",
  // Languages of South and South-East Asia.
  "अज्ञात|नाम अज्ञात|अनाम|उपलब्ध नहीं|लागू नहीं|পরিচয়হীন|অজানা|অজ্ঞাত|নাম নেই|ਅਣਜਾਣ|અજ્ઞાત|தெரியாது|தெரியவில்லை|பெயர் இல்லை",
  "తెలియదు|పేరు లేదు|ಗೊತ್ತಿಲ್ಲ|ಅಜ್ಞಾತ|അജ്ഞാതം|അറിയില്ല|නොදනී|නොදන්නා|ไม่ทราบ|ไม่ทราบชื่อ|ไม่มีชื่อ|ไม่ระบุ|ไม่มี|မသိ|မသိရ|មិនស្គាល់|ບໍ່ຮູ້",
  "không rõ|không biết|không có|không có tên|chưa rõ|chưa biết|tidak diketahui|tidak dikenal|tidak ada|tanpa nama",
  "tiada|tiada nama|tidak berkaitan|hindi alam|walang pangalan|hindi kilala|haijulikani",
  // Chinese, Japanese, Korean.
  "不明|不詳|不详|未知|无名|無名|无名氏|無名氏|佚名|匿名|姓名不详|姓名不詳|没有|沒有|无|無|未提供|未填写|未填寫|不适用|不適用|暂无|暫無|待定",
  "氏名不明|名前不明|名無し|名前なし|名なし|なし|該当なし|未定|未記入|未入力|미상|성명미상|성명 미상|이름 없음|이름없음|없음|무명|무명씨|알 수 없음|알수없음|미정|미입력|해당 없음|해당없음|익명"
]

export const defaults: ReadonlyArray<string> = phrases.flatMap((line) => line.split("|"))

/** Separates words. A hyphen, an underscore or a ZWNJ within a word counts as a space. */
const separators = /[\s,;|]|(?<=[\p{L}\p{M}])[-_\u2010\u200C](?=\p{L})/u

const outerSigns = /^[^\p{L}\p{N}]+|[^\p{L}\p{M}\p{N}]+$/gu

/** Returns the words of a text in lower case and half-width, without diacritics and without the signs around a word. */
const wordsOf = (text: string): ReadonlyArray<string> =>
  removeMarks(text.toLowerCase().normalize("NFKD"))
    .split(separators)
    .filter((word) => word !== "")
    .map((word) => word.replaceAll(outerSigns, "") || word)

const foldedPhrases = new WeakMap<ReadonlyArray<string>, ReadonlySet<string>>()

/** Folds the phrases as `wordsOf` does. Each list is folded only once. */
const foldPhrases = (phrases: ReadonlyArray<string>): ReadonlySet<string> => {
  const placeholders = foldedPhrases.get(phrases) ?? new Set(phrases.map((phrase) => wordsOf(phrase).join(" ")))
  foldedPhrases.set(phrases, placeholders)
  return placeholders
}

/** Whether a name consists of these phrases only: "Unknown Unknown" does, "Jennifer Null" does not. */
export const consistsOf = (phrases: ReadonlyArray<string>, name: string): boolean => {
  const placeholders = foldPhrases(phrases)
  const words = wordsOf(name)
  // The positions at which a sequence of phrases can end.
  const ends = words.reduce(
    (ends, _, last) =>
      ends.some((first) => placeholders.has(words.slice(first, last + 1).join(" "))) ? [...ends, last + 1] : ends,
    [0]
  )
  return words.length > 0 && ends.at(-1) === words.length
}

/** A placeholder next to a real name. No real name contains these words. */
export const placeholderPart =
  /(?<![\p{L}\p{M}\p{N}])(?:fnu|lnu|nfn|nln|nmn|n\/a|unknown|undefined|inconnue?|desconocid[oa]|desconhecid[oa]|sconosciut[oa]|unbekannt|onbekend|ok[äa]nd|ukjent|nieznan[ya]|bilinmiyor|неизвестн(?:о|ый|ая)|невідом(?:о|ий|а)|مجهول|نامعلوم|不明|不詳|不详|未知|미상)(?![\p{L}\p{M}\p{N}])/iu
