import test from 'ava'
import type { Model } from '../../core/model/model.ts'
import { parseValue } from '../../core/query/parse-value.ts'
import { attributeOf } from '../model/compiled.ts'
import { library } from './library.ts'

let model: Model
test.before(async () => {
  model = await library()
})

function read(name: string, raw: unknown): unknown {
  const attribute = attributeOf(model, 'book', name)
  if (attribute.kind !== 'scalar') throw new Error(`${name} is no scalar`)
  const parsed = parseValue(attribute, raw)
  return parsed.ok ? parsed.value : (parsed.reasons[0]?.message ?? `expected ${parsed.reasons[0]?.expected}`)
}

const TABLE: Readonly<Record<string, readonly (readonly [unknown, unknown])[]>> = {
  'texts are taken as they are, numbers and booleans as their text': [
    [
      'title',
      [
        ['a', 'a'],
        ['', ''],
        ['null', 'null'],
        [5, '5'],
        [true, 'true'],
        ['100% _ \\ é 😀', '100% _ \\ é 😀'],
      ],
    ],
    ['kind', [['gossip', 'gossip']]],
    [
      'title',
      [
        ['a\0b', 'expected a text without NUL characters'],
        [{}, 'expected a text'],
        [null, 'expected a text'],
      ],
    ],
  ],
  'integers are whole numbers that PostgreSQL can hold': [
    [
      'pages',
      [
        ['8', 8],
        [' 8 ', 8],
        ['-8', -8],
        ['+8', 8],
        ['8.0', 8],
        ['1e3', 1000],
        [8, 8],
        ['2147483647', 2147483647],
      ],
    ],
    [
      'pages',
      [
        ['', 'expected an integer'],
        ['many', 'expected an integer'],
        ['1.5', 'expected an integer'],
        ['', 'expected an integer'],
      ],
    ],
    [
      'pages',
      [
        ['Infinity', 'expected an integer'],
        [Number.NaN, 'expected an integer'],
        [true, 'expected an integer'],
      ],
    ],
    [
      'pages',
      [
        ['2147483648', 'expected an integer of at most 2147483647'],
        ['-99999999999', 'expected an integer of at least -2147483648'],
        ['-2147483648', -2147483648],
      ],
    ],
  ],
  'big integers keep every digit': [
    [
      'sold',
      [
        ['9007199254740993', '9007199254740993'],
        [42, '42'],
        ['+7', '7'],
        ['-7', '-7'],
      ],
    ],
    [
      'sold',
      [
        ['9223372036854775808', 'expected an integer of at most 9223372036854775807'],
        ['-9223372036854775808', '-9223372036854775808'],
        ['-9223372036854775809', 'expected an integer of at least -9223372036854775808'],
        ['1.5', 'expected an integer'],
        ['', 'expected an integer'],
      ],
    ],
  ],
  'decimals and floats are finite numbers': [
    [
      'price',
      [
        ['9.99', 9.99],
        ['.5', 0.5],
        ['-1e-2', -0.01],
        [3, 3],
      ],
    ],
    [
      'weight',
      [
        ['1.25', 1.25],
        ['NaN', 'expected a number'],
        ['', 'expected a number'],
        ['1e999', 'expected a number'],
        ['a', 'expected a number'],
      ],
    ],
  ],
  'a boolean is true for every word but those of no': [
    [
      'printed',
      [
        ['true', true],
        ['TRUE', true],
        ['1', true],
        ['t', true],
        ['yes', true],
        ['FALSE', true],
        ['maybe', true],
        [true, true],
      ],
    ],
    [
      'printed',
      [
        ['false', false],
        ['0', false],
        ['f', false],
        ['', false],
        [false, false],
        [{}, 'expected true or false'],
      ],
    ],
  ],
  'a date is a day of the calendar, or the day of an ISO datetime': [
    [
      'day',
      [
        ['2024-02-29', '2024-02-29'],
        ['2024-02-29T23:00:00.000Z', '2024-02-29'],
        ['0001-01-01', '0001-01-01'],
      ],
    ],
    [
      'day',
      [
        ['yesterday', 'Invalid format, expected yyyy-MM-dd'],
        ['', 'Invalid format, expected yyyy-MM-dd'],
        ['2024-2-9', 'Invalid format, expected yyyy-MM-dd'],
        ['2023-13-01', 'Invalid format, expected yyyy-MM-dd'],
      ],
    ],
    [
      'day',
      [
        ['2023-02-30', 'Invalid date'],
        ['2023-02-29', 'Invalid date'],
        ['0000-01-01', 'Invalid date'],
      ],
    ],
  ],
  'a time has seconds, and up to three decimals': [
    [
      'at',
      [
        ['13:45:10', '13:45:10'],
        ['13:45:10.250', '13:45:10.250'],
        [5, 'Expected a string, got a number'],
      ],
    ],
    [
      'at',
      [
        ['13:45', 'Invalid time format, expected HH:mm:ss.SSS'],
        ['24:00:00', 'Invalid time format, expected HH:mm:ss.SSS'],
        ['noon', 'Invalid time format, expected HH:mm:ss.SSS'],
      ],
    ],
  ],
  'a moment is ISO with or without an offset, a day, or milliseconds': [
    [
      'moment',
      [
        ['2024-01-01T10:00:00+02:00', '2024-01-01T08:00:00.000Z'],
        ['2024-01-01T10:00:00+0200', '2024-01-01T08:00:00.000Z'],
        ['2024-01-01T10:00:00+02', '2024-01-01T08:00:00.000Z'],
      ],
    ],
    [
      'moment',
      [
        ['2024-01-01', '2024-01-01T00:00:00.000Z'],
        ['2024-01-01T08:00', '2024-01-01T08:00:00.000Z'],
        ['2024-01-01T08:00:00.123456Z', '2024-01-01T08:00:00.123Z'],
      ],
    ],
    [
      'moment',
      [
        ['2024', '2024-01-01T00:00:00.000Z'],
        ['2024-06', '2024-06-01T00:00:00.000Z'],
        ['20240601T101010Z', '2024-06-01T10:10:10.000Z'],
        ['2024-W10-3', '2024-03-06T00:00:00.000Z'],
        ['2024-100', '2024-04-09T00:00:00.000Z'],
        ['2024-01-01T10.5Z', '2024-01-01T10:30:00.000Z'],
        ['2024-01-01T24:00:00Z', '2024-01-02T00:00:00.000Z'],
        ['5', '1970-01-01T00:00:00.005Z'],
        [-1, '1969-12-31T23:59:59.999Z'],
      ],
    ],
    [
      'moment',
      [
        ['2024-366x', 'Invalid format, expected a timestamp or an ISO date'],
        ['2023-366', 'Invalid format, expected a timestamp or an ISO date'],
        ['2024-W54', 'Invalid format, expected a timestamp or an ISO date'],
        ['2024-01-01t10:00:00z', 'Invalid format, expected a timestamp or an ISO date'],
        ['2024-01-01T24:00:01Z', 'Invalid format, expected a timestamp or an ISO date'],
        [1.5, 'Invalid format, expected a timestamp or an ISO date'],
      ],
    ],
    [
      'moment',
      [
        ['1704096000000', '2024-01-01T08:00:00.000Z'],
        [1704096000000, '2024-01-01T08:00:00.000Z'],
      ],
    ],
    [
      'stamp',
      [
        ['1704096000000', '2024-01-01T08:00:00.000Z'],
        ['', 'Invalid format, expected a timestamp or an ISO date'],
      ],
    ],
    [
      'moment',
      [
        ['soon', 'Invalid format, expected a timestamp or an ISO date'],
        ['2023-02-30T00:00:00Z', 'Invalid format, expected a timestamp or an ISO date'],
        [1e18, 'Invalid format, expected a timestamp or an ISO date'],
        ['2024-01-01T99:00:00Z', 'Invalid format, expected a timestamp or an ISO date'],
      ],
    ],
  ],
  'json is JSON text, in one spelling': [
    [
      'data',
      [
        ['{"a": 1}', '{"a":1}'],
        ['[1, 2]', '[1,2]'],
        ['"x"', '"x"'],
        [{ a: 1 }, '{"a":1}'],
        ['"\\\\u0000"', '"\\\\u0000"'],
      ],
    ],
    [
      'data',
      [
        ['plain', 'expected JSON text'],
        ['[1e400]', 'expected JSON text without numbers beyond ±1.7976931348623157e+308'],
        ['', 'expected JSON text'],
        ['"\\u0000"', 'expected JSON text without NUL characters and broken letters'],
        ['"\\ud800"', 'expected JSON text without NUL characters and broken letters'],
      ],
    ],
    ['tags', [['["a"]', '["a"]']]],
  ],
  'ids are integers, documentIds are texts': [
    [
      'id',
      [
        ['7', 7],
        ['abc', 'expected an integer'],
      ],
    ],
    ['documentId', [['abc', 'abc']]],
  ],
}

for (const [title, rows] of Object.entries(TABLE)) {
  test(title, t => {
    for (const [name, cases] of rows) {
      for (const [raw, value] of cases as readonly (readonly [unknown, unknown])[]) {
        t.deepEqual(read(String(name), raw), value, `${String(name)} ${JSON.stringify(raw)}`)
      }
    }
  })
}
