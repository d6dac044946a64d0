// The server that is put to the test.
import { createServer } from 'isthmus';
import { z } from 'zod';

export const weather = createServer({ name: 'weather', version: '1.0.0' });

weather.tool(
  'forecast',
  {
    description: 'What the weather will be in a city',
    input: z.object({ city: z.string().describe('Where') }),
    // Says that the referee may call it.
    annotations: { readOnlyHint: true, openWorldHint: false },
  },
  ({ city }) => `Rain in ${city}, then sun.`,
);
