import { startMailSink } from '@rollcall/testing/mail-sink'

/** A sink in a process of its own. Prints its port, and counts on request: a line to its input is answered with a number. */
let count = 0
const sink = await startMailSink({ onMail: () => void count++ })
console.log(sink.port)
process.stdin.on('data', () => console.log(count))
