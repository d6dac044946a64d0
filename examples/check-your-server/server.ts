import { serve, stdio } from 'isthmus';
import { weather } from './weather.js';

await serve(weather, stdio());
