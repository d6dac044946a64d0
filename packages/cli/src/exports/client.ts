export * from '@isthmus/sdk/client';
