import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { parse, parseAllDocuments } from 'yaml'
import { PLINTH } from '../harness/program.ts'

const ROOT = join(import.meta.dirname, '../..')
const MANIFESTS = join(ROOT, 'deploy/kubernetes')
const read = (...path: readonly string[]) => readFileSync(join(ROOT, ...path), 'utf8')

interface Container {
  readonly image: string
  readonly command?: readonly string[]
  readonly envFrom: readonly { readonly secretRef: { readonly name: string } }[]
  readonly ports?: readonly { readonly name: string }[]
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[]
  readonly securityContext: Readonly<Record<string, unknown>>
  readonly livenessProbe?: Probe
  readonly readinessProbe?: Probe
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string }
}

interface Pod {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> }
  readonly spec: {
    readonly containers: readonly Container[]
    readonly securityContext: Readonly<Record<string, unknown>>
    readonly volumes: readonly { readonly name: string }[]
    readonly terminationGracePeriodSeconds?: number
  }
}

interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name?: string; readonly generateName?: string }
  readonly stringData?: Readonly<Record<string, string>>
  readonly spec?: {
    readonly template?: Pod
    readonly selector?: object
    readonly ports?: readonly { targetPort: string }[]
  }
}

const manifests: readonly Manifest[] = readdirSync(MANIFESTS).flatMap(name =>
  parseAllDocuments(readFileSync(join(MANIFESTS, name), 'utf8'), { strict: true }).map(document => {
    if (document.errors.length > 0) throw new Error(`${name}: ${document.errors.join()}`)
    return document.toJS()
  }),
)
const ofKind = (kind: string) => manifests.filter(each => each.kind === kind)
const pods = manifests.flatMap(({ spec }) => spec?.template ?? [])

const KINDS = {
  'apps/v1': ['Deployment'],
  'batch/v1': ['Job'],
  'policy/v1': ['PodDisruptionBudget'],
  v1: ['Secret', 'Service'],
}

test('the Kubernetes manifests fit together: labels, secrets, volumes, ports, one image', t => {
  for (const { apiVersion, kind, metadata } of manifests) {
    t.true(
      Object.entries(KINDS).some(([version, kinds]) => version === apiVersion && kinds.includes(kind)),
      kind,
    )
    t.truthy(metadata.name ?? metadata.generateName)
  }
  const [deployment] = ofKind('Deployment')
  const labels = deployment?.spec?.template?.metadata.labels
  t.deepEqual(deployment?.spec?.selector, { matchLabels: labels })
  t.deepEqual(ofKind('PodDisruptionBudget')[0]?.spec?.selector, { matchLabels: labels })
  t.deepEqual(ofKind('Service')[0]?.spec?.selector, labels)
  const [secret] = ofKind('Secret')
  t.deepEqual(Object.keys(secret?.stringData ?? {}), ['DATABASE_URL', 'JWT_SECRET'])
  t.is(pods.length, 3)
  t.is(new Set(pods.map(({ spec }) => spec.containers[0]?.image)).size, 1)
  for (const { metadata, spec } of pods) {
    const [container] = spec.containers
    t.deepEqual(
      container?.envFrom.map(({ secretRef }) => secretRef.name),
      [secret?.metadata.name],
    )
    t.deepEqual(
      container?.volumeMounts.map(({ name }) => name),
      spec.volumes.map(({ name }) => name),
    )
    if (spec.containers[0]?.command) t.notDeepEqual(metadata.labels, labels, 'a job gets no traffic')
  }
  const [served] = deployment?.spec?.template?.spec.containers ?? []
  t.is(ofKind('Service')[0]?.spec?.ports?.[0]?.targetPort, served?.ports?.[0]?.name)
})

test('the pods are unprivileged, probe the health routes, and have time to stop', t => {
  for (const { spec } of pods) {
    t.like(spec.securityContext, { runAsNonRoot: true, runAsUser: 1000 })
    for (const { securityContext } of spec.containers)
      t.like(securityContext, { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true })
  }
  const served = ofKind('Deployment')[0]?.spec?.template?.spec
  const [container] = served?.containers ?? []
  t.deepEqual(container?.livenessProbe?.httpGet, { path: '/_health', port: 'http' })
  t.deepEqual(container?.readinessProbe?.httpGet, { path: '/_ready', port: 'http' })
  t.true((served?.terminationGracePeriodSeconds ?? 0) > 35)
})

test('the commands of the jobs and of the unit exist in plinth', t => {
  const commands = pods
    .flatMap(({ spec }) => spec.containers)
    .flatMap(({ command }) => (command ? [command] : []))
  t.is(commands.length, 2)
  const unit = read('deploy/systemd/plinth.service')
  const start = /^ExecStart=\/usr\/bin\/(.*)$/m.exec(unit)?.[1]?.split(' ') ?? []
  for (const [program, path = '', ...words] of [...commands, start]) {
    t.is(program, 'node')
    t.is(path, 'node_modules/plinth/bin/plinth.js')
    const { status, stderr } = spawnSync(process.execPath, [...PLINTH, ...words, '--help'])
    t.is(status, 0, String(stderr))
  }
  t.regex(unit, /^Type=exec$/m)
})

test('compose.yaml waits for PostgreSQL and declares its volumes', t => {
  const { services, volumes } = parse(read('templates/base/compose.yaml'))
  t.like(services.api, { build: '.', depends_on: { database: { condition: 'service_healthy' } } })
  t.truthy(services.database.healthcheck.test)
  const used = [...services.api.volumes, ...services.database.volumes]
    .map(String)
    .map(each => each.split(':')[0])
  t.deepEqual(used.sort(), Object.keys(volumes).sort())
})

test('the files of docs/deploy.md exist in the package', t => {
  const page = read('docs/deploy.md')
  const paths = new Set(
    [...page.matchAll(/node_modules\/plinth\/(deploy\/[\w./-]*\w)/g)].map(([, path]) => path ?? ''),
  )
  t.true(paths.size >= 3)
  for (const path of paths)
    t.notThrows(() => readdirSync(join(ROOT, path, path.includes('.') ? '..' : '')), path)
  const inCluster = [...page.matchAll(/k8s\/([\w-]+\.yaml)/g)].map(([, name]) => name)
  t.deepEqual([...new Set(inCluster)].sort(), readdirSync(MANIFESTS).sort())
  t.true(JSON.parse(read('package.json')).files.includes('deploy'))
})
