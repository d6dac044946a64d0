export * from '@isthmus/check';
