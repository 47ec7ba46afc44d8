import { type LinkMode, linkTo } from '@rollcall/testing/link'
import { type Mongod, startMongod } from '@rollcall/testing/mongod/proxy'

/** Modes of a replica set: those of the network to it, elections, and replication that lags. */
export type ReplicaSetMode = LinkMode | 'without primary' | 'lagging' | 'losing replies'

/** A replica set that can fail, in front of the database of the test run. */
export type ReplicaSet = {
  url: string
  mongod: Mongod
  become(mode: ReplicaSetMode): Promise<void>
  stop(): Promise<void>
}

/** Delay of a majority that lags: longer than requests wait. */
const LAG_MS = 15_000

/** Starts a replica set that can fail. Drivers discover its primary, as those of the product do in production. */
export async function startReplicaSet(): Promise<ReplicaSet> {
  const link = await linkTo(process.env.MONGODB_URL ?? '')
  const mongod = await startMongod({ target: link.url })
  const { behaviour } = mongod
  let recover = () => {}
  return {
    url: mongod.replicaSetUrl,
    mongod,
    async become(mode) {
      recover()
      recover = mode === 'without primary' ? await mongod.stepDown() : () => {}
      behaviour.majorityMs = mode === 'lagging' ? LAG_MS : 0
      behaviour.unknownCommits = mode === 'losing replies' ? Number.POSITIVE_INFINITY : 0
      link.become(mode === 'silent' || mode === 'cut' || mode === 'slow' ? mode : 'open')
    },
    async stop() {
      await mongod.stop()
      await link.stop()
    },
  }
}
