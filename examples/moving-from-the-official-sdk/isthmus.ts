import { createServer, serve, stdio } from 'isthmus';
import { z } from 'zod';

const server = createServer({ name: 'converter', version: '1.0.0' });

server.tool(
  'to_fahrenheit',
  {
    description: 'Converts a temperature',
    input: z.object({ celsius: z.number() }),
    output: z.object({ fahrenheit: z.number() }),
  },
  ({ celsius }) => {
    if (celsius < -273.15) throw new Error('There is nothing colder than -273.15 °C');
    return { fahrenheit: (celsius * 9) / 5 + 32 };
  },
);

await serve(server, stdio());
