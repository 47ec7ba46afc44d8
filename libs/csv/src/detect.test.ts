import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { detectFormat, HEAD_BYTES } from './detect.ts'
import { CsvError, type CsvErrorCode, defaultLimits } from './model.ts'

const detect = (head: string | Buffer, complete = true) => detectFormat(Buffer.from(head), { complete })
const detectDelimiter = (head: string) => detect(head).delimiter
const refused = (code: CsvErrorCode, message: RegExp) => (error: unknown) =>
  error instanceof CsvError && error.code === code && message.test(error.message)

/** Encodes text in an encoding that Node can only decode, with one or two bytes per character. */
function encode(text: string, encoding: string): Buffer {
  const decoder = new TextDecoder(encoding, { fatal: true })
  const bytesByCharacter = new Map<string, number[]>()
  const learn = (...bytes: number[]) => {
    try {
      const character = decoder.decode(Uint8Array.from(bytes))
      if ([...character].length === 1 && !bytesByCharacter.has(character)) bytesByCharacter.set(character, bytes)
    } catch {} // invalid bytes
  }
  for (let lead = 0; lead < 256; lead++) learn(lead)
  for (let lead = 0x81; lead < 256; lead++) for (let trail = 0x40; trail < 256; trail++) learn(lead, trail)
  return Buffer.from([...text].flatMap(character => bytesByCharacter.get(character)!))
}

const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16()
const SAMPLE = 'email,name\r\na@example.com,Zoë Müller\r\nb@example.com,José Núñez\r\n'

describe('encoding', () => {
  const found = (bytes: Buffer) => {
    const { encoding, headers, start } = detect(bytes)
    assert.deepEqual(headers, ['email', 'name'])
    assert.ok(bytes.subarray(start.offset).includes('@'))
    return [encoding, start.offset]
  }

  it('is UTF-8 with and without a mark, for plain ASCII too', () => {
    assert.deepEqual(found(Buffer.from(SAMPLE)), ['utf-8', 12])
    assert.deepEqual(found(Buffer.from(`\ufeff${SAMPLE}`)), ['utf-8', 15])
    assert.deepEqual(found(Buffer.from('email,name\na@example.com,A\n')), ['utf-8', 11])
  })

  it('is UTF-16 of both orders, with and without a mark', () => {
    assert.deepEqual(found(Buffer.from(`\ufeff${SAMPLE}`, 'utf16le')), ['utf-16le', 26])
    assert.deepEqual(found(utf16be(`\ufeff${SAMPLE}`)), ['utf-16be', 26])
    assert.deepEqual(found(Buffer.from(SAMPLE, 'utf16le')), ['utf-16le', 24])
    assert.deepEqual(found(utf16be(SAMPLE)), ['utf-16be', 24])
    const foreign = 'email,name\n01@example.com,東京太郎\n02@example.com,नरेन्द्र शर्मा\n'
    assert.deepEqual(found(Buffer.from(foreign, 'utf16le')), ['utf-16le', 22])
  })

  it('is UTF-8 where the head ends within a character', () => {
    const bytes = Buffer.from('email,name\na@example.com,José')
    assert.equal(detect(bytes.subarray(0, -1), false).encoding, 'utf-8')
  })

  it('is UTF-8 where a few bytes are damaged, Windows-1252 where nothing speaks for UTF-8', () => {
    const damaged = Buffer.concat([Buffer.from(SAMPLE), Buffer.from('c@example.com,Bj\xf6rn\n', 'latin1')])
    assert.deepEqual(found(damaged), ['utf-8', 12])
    assert.deepEqual(found(Buffer.from('email,name\na@example.com,Bj\xf6rn\n', 'latin1')), ['windows-1252', 11])
    assert.deepEqual(found(encode('email,name\na@example.com,“Zoë” – € 5\n', 'windows-1252')), ['windows-1252', 11])
  })

  const written: [encoding: string, rows: string][] = [
    ['windows-1252', 'Jürgen Müller;Köln|Sören Weiß;Gießen|René Lefèvre;Orléans|José Núñez;Málaga|Åsa Øst;Tromsø'],
    [
      'windows-1250',
      'Łukasz Wiśniewski;Gdańsk|Agnieszka Wójcik;Łódź|Małgorzata Dąbrowska;Wrocław|Zbigniew Kozłowski;Poznań',
    ],
    ['windows-1251', 'Иван Петров;Москва|Ольга Смирнова;Новосибирск|Дмитрий Соколов;Екатеринбург|Анна Попова;Казань'],
    ['koi8-r', 'Иван Петров;Москва|Ольга Смирнова;Новосибирск|Дмитрий Соколов;Екатеринбург|Анна Попова;Казань'],
    ['windows-1253', 'Γιώργος Παπαδόπουλος;Αθήνα|Μαρία Νικολάου;Θεσσαλονίκη|Ελένη Γεωργίου;Πάτρα'],
    ['windows-1254', 'Ayşe Yılmaz;İstanbul|Gökhan Çağlar;Eskişehir|Şule Öztürk;Muğla|Işıl Güneş;İzmir'],
    ['windows-1255', 'דוד כהן;ירושלים|שרה לוי;תל אביב|יעקב מזרחי;חיפה'],
    ['windows-1256', 'محمد أحمد;الرياض|فاطمة علي;جدة|خالد محمود;القاهرة'],
  ]
  for (const [encoding, rows] of written) {
    it(`is ${encoding}`, () => {
      const lines = rows.split('|').map((row, index) => `person${index}@example.com;${row}\r\n`)
      assert.equal(detect(encode(`email;name;city\r\n${lines.join('')}`, encoding)).encoding, encoding)
    })
  }

  it('is named if it is not supported', () => {
    const japanese =
      'メール,名前,都市\na@example.jp,山田太郎,東京\nb@example.jp,佐藤花子,大阪市\nc@example.jp,鈴木一郎,名古屋\n'
    assert.throws(() => detect(encode(japanese, 'shift_jis')), refused('encoding', /shift_jis.*save it as UTF-8/))
    assert.throws(() => detect(Buffer.from('fffe000061000000', 'hex')), refused('encoding', /UTF-32/))
  })
})

describe('files that are not CSV', () => {
  it('are rejected by name if their first bytes show it', () => {
    assert.throws(() => detect(Buffer.from('504b030414000600', 'hex')), refused('binary', /Excel workbook/))
    assert.throws(() => detect(Buffer.from('d0cf11e0a1b11ae1', 'hex')), refused('binary', /old kind/))
    assert.throws(() => detect('%PDF-1.7\n'), refused('binary', /PDF/))
    assert.throws(() => detect(gzipSync(SAMPLE)), refused('binary', /gzip/))
    assert.throws(() => detect('\n<!DOCTYPE html><title>Sign in</title>'), refused('binary', /web page/))
  })

  it('are rejected if they contain what text does not, whatever their mark', () => {
    const noise = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 2654435761) >>> 24))
    for (const mark of ['', 'efbbbf']) {
      const file = Buffer.concat([Buffer.from(mark, 'hex'), noise])
      assert.throws(() => detect(file), refused('binary', /not a text file/), mark)
    }
    for (const mark of ['fffe', 'feff']) {
      assert.throws(() => detect(Buffer.concat([Buffer.from(mark, 'hex'), noise])), CsvError)
    }
  })

  it('are rejected when empty', () => {
    for (const nothing of ['', '\ufeff', '\n\r\n\n', ' , ,\n', 'sep=;\n']) {
      assert.throws(() => detect(nothing), refused('empty', /is empty/), JSON.stringify(nothing))
    }
  })

  it('do not include a text with a NUL', () => {
    assert.deepEqual(detect('email,name\na@example.com,A\0da\nb@example.com,Bea\n').headers, ['email', 'name'])
  })
})

describe('delimiter', () => {
  it('is the one by which the rows agree', () => {
    assert.equal(detectDelimiter('email,name\na@example.com,A\n'), ',')
    assert.equal(detectDelimiter('email;name\na@example.com;A\n'), ';')
    assert.equal(detectDelimiter('email\tname\na@example.com\tA\n'), '\t')
    assert.equal(detectDelimiter('email|name\na@example.com|A\n'), '|')
  })

  it('is not a character within the values', () => {
    assert.equal(detectDelimiter('Name;Email;Price\nA;a@example.com;1,5\nB;b@example.com;2,5\n'), ';')
    assert.equal(detectDelimiter('email,tags\na@example.com,a|b|c\nb@example.com,x|y\n'), ',')
    assert.equal(detectDelimiter('"name; first, last";"e,mail"\n"A, B; C";a@example.com\n'), ';')
    assert.equal(detectDelimiter('email\tname, as typed\na@example.com\tB, A\nb@example.com\tB\n'), '\t')
  })

  it('holds for ragged rows and one column', () => {
    assert.equal(detectDelimiter('a;b;c;d\n1;2\n1;2;3;4\n1,5;2;3;4;;\n"x;y";2\n'), ';')
    assert.equal(detectDelimiter('email\na@example.com\n'), ',')
    assert.equal(detectDelimiter('email;name'), ';')
  })

  it('is what Excel says it is', () => {
    const { delimiter, headers, start } = detect('sep=;\r\na,b;c\r\n1,2;3\r\n')
    assert.deepEqual([delimiter, headers, start], [';', ['a,b', 'c'], { offset: 14, row: 0, line: 3 }])
    assert.equal(detectDelimiter('"sep=^"\na^b\n1^2\n'), '^')
  })
})

describe('headers', () => {
  it('are trimmed, and may be quoted, on several lines, and after blank ones', () => {
    const { headers, start } = detect('\n\n" email ",  name,"first\nline"\n1,2,3')
    assert.deepEqual(headers, ['email', 'name', 'first\nline'])
    assert.deepEqual(start, { offset: 32, row: 0, line: 5 })
  })

  it('may be names that objects have', () => {
    assert.deepEqual(detect('__proto__,constructor\n1,2').headers, ['__proto__', 'constructor'])
  })

  it('are unguarded', () => {
    assert.deepEqual(detect("'@handle,'tis,''=x,-5\n1").headers, ['@handle', "'tis", "'=x", '-5'])
  })

  it('may be the whole file', () => {
    assert.deepEqual(detect('email,name').start, { offset: 10, row: 0, line: 2 })
  })

  it('are refused when blank, repeated, too many or unreadable', () => {
    const many = Array.from({ length: 257 }, (_, index) => `h${index}`).join(',')
    assert.throws(() => detect('a,,c\n1,2,3'), refused('headers', /column 2 is blank/))
    assert.throws(() => detect('a,b, a\n1,2,3'), refused('headers', /"a" appears twice/))
    assert.throws(() => detect(`${many}\n`), refused('headers', /more values than the 256 columns/))
    assert.throws(() => detect('a,"b\n1,2'), refused('headers', /never closed/))
    assert.throws(() => detect('a,b\0\n1,2'), refused('headers', /NUL/))
    assert.throws(() => detect('a'.repeat(HEAD_BYTES), false), refused('headers', /longer than 64 KiB/))
  })

  it('respect the limits', () => {
    const limits = { ...defaultLimits, columns: 2 }
    assert.throws(
      () => detectFormat(Buffer.from('a,b,c\n'), { complete: true, limits }),
      refused('headers', /2 columns/),
    )
    const errorFile = detectFormat(Buffer.from('a,b,_row,_line,_code,_error\n'), { complete: true, limits })
    assert.equal(errorFile.headers.length, 6)
  })
})
