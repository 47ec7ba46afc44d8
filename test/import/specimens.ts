type File = { what: string; file: string | Buffer<ArrayBuffer> }

/** A realistic file and its expected outcome. */
export type Specimen = File & Imported

/** The expected outcome of a file. */
export type Imported = {
  /** Changes to the suggested mapping. */
  mapping?: Record<string, string>
  /** Rows by outcome; 0 if not named. */
  rows: Partial<Record<'created' | 'updated' | 'unchanged' | 'skipped' | 'failed', number>>
  /** Row, physical line and code of each failure. */
  failures?: [row: number, line: number, code: string][]
  /** Expected contacts by email. */
  contacts?: Record<string, { name?: string; tags?: string[]; attributes?: object; unsubscribed?: boolean }>
}

const utf16le = (text: string): Buffer<ArrayBuffer> => Buffer.from(text, 'utf16le')
const utf16be = (text: string): Buffer<ArrayBuffer> => Buffer.from(text, 'utf16le').swap16()
const latin1 = (text: string): Buffer<ArrayBuffer> => Buffer.from(text, 'latin1')
const bytes = (...parts: (string | Buffer)[]): Buffer<ArrayBuffer> =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part)))
const people = (count: number, line = (index: number) => `p${index}@example.com,Person ${index}`): string =>
  Array.from({ length: count }, (_, index) => `${line(index + 1)}\n`).join('')

/** Exports of mail tools, address books and spreadsheets. */
export const exportsOfTools: Specimen[] = [
  {
    what: 'a mail tool: every text quoted, tags as a quoted list, times, notes with commas',
    file: [
      '"Email Address","First Name","Last Name",Address,MEMBER_RATING,OPTIN_TIME,OPTIN_IP,NOTES,TAGS',
      'a@example.com,Zoë,Núñez,"1 High St, Townsville",2,"2024-01-31 10:00:00",192.0.2.1,"said ""hello"", twice","""VIP"""',
      'b@example.com,B,,,2,"2024-01-31 10:00:00",,,',
    ].join('\n'),
    rows: { created: 2 },
    contacts: { 'a@example.com': { name: 'Zoë', tags: ['"VIP"'] }, 'b@example.com': { name: 'B', tags: [] } },
  },
  {
    what: 'a mail tool that writes semicolons and headings in capitals',
    file: 'EMAIL;NAME;SMS;COMPANY;OPT_OUT\r\na@example.com;Élodie;+33600000000;"Société; Anonyme";0\r\nb@example.com;B;;;1\r\n',
    rows: { created: 2 },
    contacts: {
      'a@example.com': { name: 'Élodie', attributes: { company: 'Société; Anonyme' }, unsubscribed: false },
      'b@example.com': { unsubscribed: true },
    },
  },
  {
    what: 'a customer base with ids, phases and blank columns at the end',
    file: 'Record ID,First Name,Last Name,Email,Phone Number,Company,Create Date\r\n101,Ann,A,a@example.com,,Acme,2024-01-31 10:00\r\n102,Ben,B,b@example.com,,,\r\n',
    rows: { created: 2 },
    contacts: { 'a@example.com': { name: 'Ann', attributes: { company: 'Acme' } } },
  },
  {
    what: 'an address book whose emails are numbered',
    file: 'First Name,Last Name,Labels,E-mail 1 - Label,E-mail 1 - Value,Phone 1 - Value\nAnn,A,* myContacts,Work,a@example.com,\nBen,B,,,b@example.com,\n',
    rows: { created: 2 },
    contacts: { 'a@example.com': { name: 'Ann', tags: ['* myContacts'] } },
  },
  {
    what: 'an address book in Windows-1252',
    file: latin1('"First Name","E-mail Address","Company"\r\n"Jürgen","a@example.com","Straße & Söhne"\r\n'),
    rows: { created: 1 },
    contacts: { 'a@example.com': { name: 'Jürgen', attributes: { company: 'Straße & Söhne' } } },
  },
  {
    what: 'a spreadsheet as Unicode text: UTF-16 LE with a mark, tabs',
    file: utf16le('\ufeffE-Mail\tName\r\na@example.com\t"Łukasz ""Lu"" 名"\r\nb@example.com\tB\r\n'),
    rows: { created: 2 },
    contacts: { 'a@example.com': { name: 'Łukasz "Lu" 名' } },
  },
  {
    what: 'UTF-16 BE with a mark',
    file: utf16be('\ufeffemail,name\na@example.com,Žofie\n'),
    rows: { created: 1 },
    contacts: { 'a@example.com': { name: 'Žofie' } },
  },
  {
    what: 'UTF-16 LE without a mark',
    file: utf16le('email;name\r\na@example.com;Ann\r\n'),
    rows: { created: 1 },
  },
  {
    what: 'a spreadsheet of a country with decimal commas: Windows-1252, semicolons named in a first line',
    file: latin1('sep=;\r\nEmail;Name;Seats\r\na@example.com;Zoë;1,5\r\nb@example.com;Bjørn;2\r\n'),
    rows: { created: 1, failed: 1 },
    failures: [[1, 3, 'invalid_attribute']],
    contacts: { 'b@example.com': { name: 'Bjørn', attributes: { seats: 2 } } },
  },
  {
    what: 'a spreadsheet with UTF-8 and its mark',
    file: '\ufeffEmail,Name\r\na@example.com,Zoë\r\n',
    rows: { created: 1 },
    contacts: { 'a@example.com': { name: 'Zoë' } },
  },
  {
    what: 'a spreadsheet with blank rows and blank columns behind the data',
    file: 'email,name\na@example.com,A,,,\n,,,,\n\n   \nb@example.com,B\n,\n',
    rows: { created: 2 },
  },
  {
    what: 'an old program that ends lines with CR alone',
    file: 'email,name\ra@example.com,A\rb@example.com,"B\rb"\r',
    rows: { created: 2 },
    contacts: { 'b@example.com': { name: 'B\rb' } },
  },
  {
    what: 'a database dump with pipes',
    file: 'id|email|name|company\n1|a@example.com|A|Acme, Inc\n2|b@example.com|B|"x|y"\n',
    rows: { created: 2 },
    contacts: {
      'a@example.com': { attributes: { company: 'Acme, Inc' } },
      'b@example.com': { attributes: { company: 'x|y' } },
    },
  },
  {
    what: 'a newsletter list: one file with addresses in all spellings',
    file: [
      'email,name',
      ' A@Example.com ,A',
      'Ann <b@example.com>,B',
      'mailto:c@example.com,C',
      'd@example,D',
      'e@exa mple.com,E',
      'f@@example.com,F',
      'ü@example.com,Ü',
      '"quoted"@example.com,Q',
      'g@münchen.example,G',
      `${'h'.repeat(65)}@example.com,H`,
      "o'neil+news@sub.example.com,I",
      'a@example.com,A again',
    ].join('\n'),
    rows: { created: 4, skipped: 1, failed: 7 },
    contacts: { 'a@example.com': { name: 'A again' }, "o'neil+news@sub.example.com": { name: 'I' } },
  },
]

/** Files with typical errors. */
export const damagedFiles: Specimen[] = [
  {
    what: 'rows of all lengths: what lacks is blank, what is too much fails its row',
    file: 'email,name,company\na@example.com\nb@example.com,B\nc@example.com,C,Acme,surplus\nd@example.com,D,Acme,,\n',
    rows: { created: 3, failed: 1 },
    failures: [[3, 4, 'columns']],
  },
  {
    what: 'newlines, delimiters and quotes within quotes',
    file: 'email,name\r\na@example.com,"A\r\nsecond, ""line"""\r\nb@example.com,\r\nnot an address,"x\ny"\r\nc@example.com,C',
    rows: { created: 3, failed: 1 },
    failures: [[3, 5, 'invalid_email']],
    contacts: { 'a@example.com': { name: 'A\r\nsecond, "line"' } },
  },
  {
    what: 'a quote that is an inch, and one that nobody closes',
    file: `email,name\na@example.com,5" screen\nb@example.com,"never closed\n${people(200)}`,
    rows: { created: 201, failed: 1 },
    failures: [[2, 3, 'quote']],
    contacts: { 'a@example.com': { name: '5" screen' }, 'p1@example.com': { name: 'Person 1' } },
  },
  {
    what: 'text behind a closing quote',
    file: 'email,name\na@example.com,"A" and more\nb@example.com,B\n',
    rows: { created: 1, failed: 1 },
    failures: [[1, 2, 'quote']],
  },
  {
    what: 'a file that breaks off within quotes',
    file: `email,name\n${people(20)}z@example.com,"half a na`,
    rows: { created: 20, failed: 1 },
    failures: [[21, 22, 'quote']],
  },
  {
    what: 'a file that breaks off within a character',
    file: bytes('email,name\na@example.com,Zoë\nb@example.com,Zo', Buffer.from([0xc3])),
    rows: { created: 1, failed: 1 },
    failures: [[2, 3, 'encoding']],
  },
  {
    what: 'NUL bytes',
    file: `email,name\n${people(50)}n@example.com,nul\0nul\nz@example.com,Z\n`,
    rows: { created: 51, failed: 1 },
    failures: [[51, 52, 'nul']],
  },
  {
    what: 'one byte of Latin-1 in UTF-8',
    file: bytes(
      `email,name\n${people(50, index => `p${index}@example.com,Zoë ${index}`)}x@example.com,Bj`,
      latin1('ö'),
      'rn\nz@example.com,Z\n',
    ),
    rows: { created: 51, failed: 1 },
    failures: [[51, 52, 'encoding']],
  },
  {
    what: 'Latin-1 that shows only far behind the beginning',
    file: bytes(`email,name\n${people(3_000)}`, latin1('z@example.com,Bjørn Ångström\n')),
    rows: { created: 3_001 },
    contacts: { 'z@example.com': { name: 'Bjørn Ångström' } },
  },
  {
    what: 'two exports in one file: the header appears twice',
    file: 'email,name\na@example.com,A\nemail,name\nb@example.com,B\n',
    rows: { created: 2, failed: 1 },
    failures: [[2, 3, 'invalid_email']],
  },
  {
    what: 'names that programs stumble over, as headers and as values',
    file: '__proto__,constructor,email,toString\nevil,hasOwnProperty,a@example.com,__proto__\nx,y,constructor@example.com,z\n',
    mapping: { __proto__: 'company', constructor: 'name', toString: 'tags' },
    rows: { created: 2 },
    contacts: { 'a@example.com': { name: 'hasOwnProperty', tags: ['__proto__'] } },
  },
  {
    what: 'formulas, guarded or not',
    file: `email,name\na@example.com,=1+1\nb@example.com,'=1+1\nc@example.com,'tis\nd@example.com,-5\n`,
    rows: { created: 4 },
    contacts: {
      'a@example.com': { name: '=1+1' },
      'b@example.com': { name: '=1+1' },
      'c@example.com': { name: "'tis" },
      'd@example.com': { name: '-5' },
    },
  },
  {
    what: 'a very long field in quotes, which may be a stray quote',
    file: `email,name\na@example.com,"${'x'.repeat(70_000)}"\nb@example.com,B\n`,
    rows: { created: 1, failed: 1 },
    failures: [[1, 2, 'quote']],
  },
  {
    what: 'a cell that is longer than what it is for',
    file: `email,name,company\na@example.com,${'n'.repeat(201)},\nb@example.com,B,${'c'.repeat(10_001)}\nc@example.com,C,${'c'.repeat(10_000)}\n`,
    rows: { created: 1, failed: 2 },
    failures: [
      [1, 2, 'invalid_name'],
      [2, 3, 'invalid_field'],
    ],
  },
  {
    what: 'tags of all kinds',
    file: `email,name,tags\na@example.com,A, x | y |x||\nb@example.com,B,p\\|q|r\\\\\nc@example.com,C,${'t'.repeat(101)}\nd@example.com,D,${Array.from({ length: 101 }, (_, index) => index).join('|')}\n`,
    rows: { created: 2, failed: 2 },
    failures: [
      [3, 4, 'invalid_tags'],
      [4, 5, 'invalid_tags'],
    ],
    contacts: { 'a@example.com': { tags: ['x', 'y'] }, 'b@example.com': { tags: ['p|q', 'r\\'] } },
  },
  {
    what: 'values of every type, right and wrong',
    file: [
      'email,name,seats,paid,since',
      'a@example.com,A,1e3,YES,2024-02-29',
      'b@example.com,B,-.5,0,2024-01-31T10:00:00+02:00',
      'c@example.com,C,"1,000",,',
      'd@example.com,D,,maybe,',
      'e@example.com,E,,,31/01/2024',
      'f@example.com,F,,,2023-02-29',
      'g@example.com,G,Infinity,,',
    ].join('\n'),
    rows: { created: 2, failed: 5 },
    contacts: {
      'a@example.com': { attributes: { seats: 1000, paid: true, since: '2024-02-29T00:00:00.000Z' } },
      'b@example.com': { attributes: { seats: -0.5, paid: false, since: '2024-01-31T08:00:00.000Z' } },
    },
  },
]

/** Files that are refused as a whole, and why. */
export const refusedFiles: (File & { refused: RegExp })[] = [
  { what: 'nothing', file: '', refused: /^the file is empty$/ },
  { what: 'blank lines only', file: '\n\r\n  \n', refused: /^the file is empty$/ },
  { what: 'a byte order mark only', file: '\ufeff', refused: /^the file is empty$/ },
  { what: 'a header only', file: 'email,name', refused: /no data row/ },
  { what: 'a header and blank lines', file: 'email,name\n\n , \n', refused: /no data row/ },
  {
    what: 'headers that stand twice',
    file: 'email,name,email\na@example.com,A,b\n',
    refused: /"email" appears twice/,
  },
  { what: 'a blank header', file: 'email,,name\na@example.com,,A\n', refused: /column 2 is blank/ },
  {
    what: '300 columns',
    file: `${Array.from({ length: 300 }, (_, index) => `c${index}`).join(',')}\n1\n`,
    refused: /256/,
  },
  { what: 'a workbook', file: bytes(Buffer.from([0x50, 0x4b, 3, 4]), 'xl/workbook.xml'), refused: /Excel workbook/ },
  {
    what: 'a picture',
    file: Buffer.from(Array.from({ length: 4_000 }, (_, index) => (index * 7919) % 256)),
    refused: /not a text file/,
  },
  { what: 'a web page', file: '<!doctype html><table><tr><td>email</td></tr></table>', refused: /web page/ },
  {
    what: 'a very long field without quotes',
    file: `email,name\na@example.com,${'x'.repeat(70_000)}\n`,
    refused: /line 2, column name: a field is longer than 65536 characters/,
  },
]
