import { test } from 'node:test'
import { soak } from './import-kills.harness.ts'

test('R3: imports killed 50 times', () => soak({ print: line => console.log(`R3  ${line}`) }))
